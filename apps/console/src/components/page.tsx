import type { ReactNode } from 'react';

interface PageProps {
  readonly title: string;
  /** One sentence below the title. */
  readonly lead?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page with its title; the title is the only `h1`. */
export function Page({ title, lead, actions, children }: PageProps) {
  return (
    <section className="page">
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p className="quiet">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

interface PanelProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A box with a second-level heading. */
export function Panel({ title, actions, children }: PanelProps) {
  return (
    <section className="panel">
      <header className="page-head">
        <h2>{title}</h2>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Says what would be shown here, and what to do to get it. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return <div className="empty">{children}</div>;
}

export type Tone = 'plain' | 'good' | 'busy' | 'warn' | 'bad';

/** A coloured word; the meaning does not depend on the colour. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
