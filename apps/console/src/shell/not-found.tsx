import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <section className="page">
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Go to the chat</Link>
      </p>
    </section>
  );
}
