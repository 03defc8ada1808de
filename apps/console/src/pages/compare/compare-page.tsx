import { Page } from '../../components/page.js';
export default function ComparePage() {
  return <Page title="Compare runs">x</Page>;
}
