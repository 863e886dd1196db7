/** Calls that runs of this process are about to make: each was given a host, and the database does not know of it yet. */
export type PendingCalls = {
  /** A run was given a host. @returns what takes it back, once */
  readonly expect: (host: string) => () => void;
  /** The database knows now of a call that was expected longest. */
  readonly begin: (host: string) => void;
  readonly count: (host: string) => number;
};

/** A run that has asked for no slot for so long is busy with something else. */
const FORGOTTEN_MS = 30_000;

/** @param now milliseconds of a monotonic clock */
export function openPendingCalls(
  now: () => number = performance.now.bind(performance),
): PendingCalls {
  const expected = new Map<string, readonly { readonly since: number }[]>();
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
    },
    count: (host) => fresh(host).length,
  };
}
