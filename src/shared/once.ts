/** Creates a value once, on first use. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Something that is opened once, on first use. */
type LazyOpen<T> = {
  /** Opens it, or returns what is open. After a failure the next call opens it again. */
  get(): Promise<T>;
  /** Undefined if it was never opened, or could not be. */
  opened(): Promise<T> | undefined;
};

export function lazyOpen<T>(open: () => Promise<T>): LazyOpen<T> {
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
