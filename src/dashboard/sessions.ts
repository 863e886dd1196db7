import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A browser that was let in. */
export type Session = {
  readonly id: string;
  /** Who decides, as the audit names him. */
  readonly user: string;
  /** To be sent along with each change. */
  readonly csrf: string;
};

type SessionTimes = { readonly user: string; readonly startedAt: number; seenAt: number };

export type Sessions = {
  start(user: string): Session;
  /** The session of that id, unless it has expired. */
  find(id: string | undefined): Session | undefined;
  end(id: string): void;
};

/** So that nobody fills the memory by asking without a cookie. */
const MOST_SESSIONS = 1_000;

/**
 * Sessions in memory: they end with the process. One expires when nobody used it for `idleMs`, and after twice that time
 * whatever happens.
 */
export function openSessions(idleMs: number, now: () => number): Sessions {
  const key = randomBytes(32);
  const kept = new Map<string, SessionTimes>();
  const csrfOf = (id: string): string => createHmac("sha256", key).update(id).digest("base64url");
  const isOver = ({ startedAt, seenAt }: SessionTimes): boolean =>
    now() - seenAt > idleMs || now() - startedAt > 2 * idleMs;
  return {
    start(user) {
      for (const [id, session] of kept) if (isOver(session)) kept.delete(id);
      // A map gives what was put into it first.
      for (const id of kept.keys()) if (kept.size >= MOST_SESSIONS) kept.delete(id);
      const id = randomBytes(24).toString("base64url");
      kept.set(id, { user, startedAt: now(), seenAt: now() });
      return { id, user, csrf: csrfOf(id) };
    },
    find(id) {
      const session = id === undefined ? undefined : kept.get(id);
      if (id === undefined || session === undefined) return undefined;
      if (isOver(session)) {
        kept.delete(id);
        return undefined;
      }
      session.seenAt = now();
      return { id, user: session.user, csrf: csrfOf(id) };
    },
    end(id) {
      kept.delete(id);
    },
  };
}

/** Compares two secrets in a time that says nothing of either. */
export function isSameSecret(one: string, other: string): boolean {
  const key = randomBytes(32);
  const digest = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
