/** Shows that something is loading; screen readers announce it. */
export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <p className="loading" role="status">
      {what} ...
    </p>
  );
}
