/** The same object with some members replaced. For class instances with private fields, which cannot be spread. */
export const overriding = <T extends object>(whole: T, changed: Partial<T>): T =>
  new Proxy(whole, {
    get: (target, name) => {
      if (Object.hasOwn(changed, name)) return changed[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
