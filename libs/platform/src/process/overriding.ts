/** The same object with some members replaced. For class instances with private fields, which cannot be spread. */
export const overriding = <T extends object>(whole: T, changed: Partial<T>): T => {
  const bound = new Map<unknown, unknown>();
  return new Proxy(whole, {
    get: (target, name) => {
      if (Object.hasOwn(changed, name)) return changed[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (!bound.has(member)) bound.set(member, member.bind(target));
      return bound.get(member);
    },
  });
};
