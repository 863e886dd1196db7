import { tooMany } from "./failures.ts";

const MINUTE_MS = 60_000;

/**
 * Counts the requests of each token per minute.
 * @param now milliseconds of a monotonic clock
 * @returns a function that accepts a request of a token, or throws Refused 429 with the seconds to wait
 */
export function limitRequests(most: number, now: () => number): (tokenId: string) => void {
  const minutes = new Map<string, { startsAt: number; requests: number }>();
  return (tokenId) => {
    const at = now();
    const minute = minutes.get(tokenId);
    if (minute === undefined || at - minute.startsAt >= MINUTE_MS) {
      minutes.set(tokenId, { startsAt: at, requests: 1 });
      return;
    }
    minute.requests += 1;
    if (minute.requests <= most) return;
    throw tooMany(
      `A token may make ${most} requests a minute (serve.limits.requests_per_minute).`,
      Math.max(1, Math.ceil((minute.startsAt + MINUTE_MS - at) / 1_000)),
    );
  };
}
