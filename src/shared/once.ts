/** Makes a value once, when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Something that is opened once, when it is first needed. */
type OpenedFirst<T> = {
  /** What opens, or is open. One that failed is opened again by the next call. */
  get(): Promise<T>;
  /** Undefined where it was never opened, or could not be. */
  opened(): Promise<T> | undefined;
};

export function openFirst<T>(open: () => Promise<T>): OpenedFirst<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      const current = (opening ??= open());
      current.catch(() => {
        if (opening === current) opening = undefined;
      });
      return current;
    },
    opened: () => opening,
  };
}
