/** Creates a value once, on first use. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Creates a value once for each key, on its first use. */
export function onceEach<Key, T>(make: (key: Key) => T): (key: Key) => T {
  const made = new Map<Key, { readonly value: T }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
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
