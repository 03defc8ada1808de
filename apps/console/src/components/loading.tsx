/** Says that something is being read; screen readers hear it. */
export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p className="loading" role="status">
      {what} ...
    </p>
  );
}
