/** Elements of the page that can hold the focus in place of something that they contained. */
const holders = '[tabindex], [role=region], li, tr, form, section, article, aside, main';

/**
 * Keeps the keyboard where the reader is. If the element with the focus is disabled, it gets the focus back when it is enabled again. If it is removed,
 * the focus goes to the element that replaces it under the same id, or else to the nearest part of the page that contained it. Without this, the
 * focus is on nothing, which a screen reader reads as the top of the page.
 */
export function keepFocus(): void {
  let last: HTMLElement | null = null;
  /** What contained it, from the inside out; a removed element no longer knows. */
  let around: readonly HTMLElement[] = [];
  const isGone = (element: HTMLElement): boolean => !element.isConnected || element.matches(':disabled');

  document.addEventListener('focusin', ({ target }) => {
    last = target as HTMLElement;
    const found: HTMLElement[] = [];
    for (let at = last.parentElement; at; at = at.parentElement) found.push(at);
    around = found;
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    // A click beside every control takes the focus away on purpose.
    if (relatedTarget === null && document.hasFocus() && !isGone(target as HTMLElement)) setTimeout(() => release(target), 0);
  });
  const release = (left: EventTarget | null): void => {
    if (last === left && last && !isGone(last) && document.activeElement === document.body) last = null;
  };

  /** The row beside the removed row that had the focus: the next Tab continues there. */
  const neighbour = (changes: readonly MutationRecord[]): HTMLElement | undefined => {
    const change = changes.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last)));
    return [change?.nextSibling, change?.previousSibling].find(
      (node): node is HTMLElement => node instanceof HTMLElement && node.isConnected && node.matches('li, tr'),
    );
  };

  new MutationObserver((changes) => {
    if (!last || document.activeElement !== document.body) return;
    if (last.isConnected) {
      if (!last.matches(':disabled')) last.focus({ preventScroll: true });
      return;
    }
    const heir = last.id === '' ? null : document.getElementById(last.id);
    if (heir) return heir.focus({ preventScroll: true });
    const holder = neighbour(changes) ?? around.find((element) => element.isConnected && element.matches(holders));
    if (!holder) return;
    if (!holder.hasAttribute('tabindex')) {
      holder.tabIndex = -1;
      holder.addEventListener('blur', () => holder.removeAttribute('tabindex'), { once: true });
    }
    holder.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
}
