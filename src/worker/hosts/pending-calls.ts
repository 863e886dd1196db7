/** Calls that runs of this process are about to make: each was given a host, and the database does not know of it yet. */
export type PendingCalls = {
  /** A run was given a host. @returns what takes it back, once */
  readonly expect: (host: string) => () => void;
  /** The database knows now of a call that was expected longest. */
  readonly begin: (host: string) => void;
  /**
   * Begins to watch, before the database is asked what it knows.
   * @returns how many calls the answer may not have counted: those that are expected, and those that began meanwhile
   */
  readonly watch: () => (host: string) => number;
};

/** A run that has asked for no slot for so long is busy with something else. */
const FORGOTTEN_MS = 30_000;

/** @param now milliseconds of a monotonic clock */
export function openPendingCalls(
  now: () => number = performance.now.bind(performance),
): PendingCalls {
  const expected = new Map<string, readonly { readonly since: number }[]>();
  const begun = new Map<string, number>();
  const begunAt = (host: string, counts: ReadonlyMap<string, number> = begun) =>
    counts.get(host) ?? 0;
  const fresh = (host: string) =>
    (expected.get(host) ?? []).filter(({ since }) => now() - since < FORGOTTEN_MS);
  return {
    expect(host) {
      const call = { since: now() };
      expected.set(host, [...fresh(host), call]);
      return () => {
        expected.set(
          host,
          fresh(host).filter((other) => other !== call),
        );
      };
    },
    begin(host) {
      expected.set(host, fresh(host).slice(1));
      begun.set(host, begunAt(host) + 1);
    },
    watch() {
      const before = new Map(begun);
      return (host) => fresh(host).length + begunAt(host) - begunAt(host, before);
    },
  };
}
