/** Outlines on a grid of 24, in the colour of the surrounding text. */
const shapes = {
  mark: 'M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9z M12 8.5l3 1.75v3.5L12 15.5l-3-1.75v-3.5z',
  chat: 'M4 5h16v11H9l-5 4z',
  runs: 'M4 6h9 M8 12h9 M12 18h8',
  knowledge:
    'M6 7.5a2.5 2.5 0 1 0 .01 0 M18 5.5a2.5 2.5 0 1 0 .01 0 M15 18.5a2.5 2.5 0 1 0 .01 0 M8.4 9.4l11-1 M7.5 12l6 7.5 M18 10.5l-2 8',
  caches: 'M4 7c0-4 16-4 16 0s-16 4-16 0v10c0 4 16 4 16 0V7 M4 12c0 4 16 4 16 0',
  settings: 'M4 7h9 M19 7h1 M4 17h1 M11 17h9 M16 4.5a2.5 2.5 0 1 0 .01 0 M8 14.5a2.5 2.5 0 1 0 .01 0',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  options: 'M12 4a8 8 0 1 0 .01 0 M12 4v16',
  warning: 'M12 4l9 16H3z M12 10v5 M12 17.5v.5',
  stop: 'M7 7h10v10H7z',
  send: 'M4 12h15 M13 6l6 6-6 6',
  retry: 'M19 12a7 7 0 1 1-2-5 M17 3v4h-4',
  star: 'M12 4l2.4 5.2 5.6.6-4.2 3.8 1.2 5.6L12 16.4l-5 2.8 1.2-5.6L4 9.8l5.6-.6z',
  pause: 'M8 6v12 M16 6v12',
  resume: 'M8 5l11 7-11 7z',
  close: 'M6 6l12 12 M18 6L6 18',
  check: 'M5 13l5 5 9-11',
  copy: 'M9 9h11v11H9z M5 15V4h11',
} as const;

export type IconName = keyof typeof shapes;

/** Decorative: the text beside it has the same meaning. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
