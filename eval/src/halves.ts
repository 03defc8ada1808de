export const halves = ['tuning', 'frozen'] as const;
/** Rules may be changed after a look at `tuning`; `frozen` is only ever counted. */
export type Half = (typeof halves)[number];

/** The fixed rule of every set here: within one group (level and language, or kind and language) every second entry is frozen. */
export const halfOf = (position: number): Half => (position % 2 === 0 ? 'tuning' : 'frozen');
