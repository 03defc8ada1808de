import { Page } from '../../components/page.js';

export default function ChatPage() {
  return (
    <Page title="Chat">
      <p>Soon.</p>
    </Page>
  );
}
