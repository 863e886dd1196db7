import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The session of an authenticated browser. */
export type Session = {
  readonly id: string;
  /** The user as the audit names them. */
  readonly user: string;
  /** The CSRF token, required with each change. */
  readonly csrf: string;
};

type SessionTimes = { readonly user: string; readonly startedAt: number; seenAt: number };

export type Sessions = {
  /** Begins a session after a sign-in. */
  start(user: string): Session;
  /** The session of a sign-in, unless it has expired. */
  find(id: string | undefined): Session | undefined;
  end(id: string): void;
  /**
   * A session without a sign-in, for the id that the browser sent, or for a new one. It is not stored, so that no number of
   * sessions can displace another.
   */
  derive(user: string, id: string | undefined): Session;
};

/** Limit of stored sessions. */
const MOST_SESSIONS = 1_000;

/**
 * Sessions end with the process. Sessions of a sign-in are stored in memory, and expire after `idleMs` without use, and after
 * twice that time in any case.
 */
export function openSessions(idleMs: number, now: () => number): Sessions {
  const key = randomBytes(32);
  const stored = new Map<string, SessionTimes>();
  const sessionOf = (id: string, user: string): Session => {
    const csrf = createHmac("sha256", key).update(`${id} ${user}`).digest("base64url");
    return { id, user, csrf };
  };
  const isOver = ({ startedAt, seenAt }: SessionTimes): boolean =>
    now() - seenAt > idleMs || now() - startedAt > 2 * idleMs;
  return {
    start(user) {
      for (const [id, session] of stored) if (isOver(session)) stored.delete(id);
      // A map is in the order of insertion: the oldest session is first.
      for (const id of stored.keys()) if (stored.size >= MOST_SESSIONS) stored.delete(id);
      const id = newId();
      stored.set(id, { user, startedAt: now(), seenAt: now() });
      return sessionOf(id, user);
    },
    find(id) {
      const session = id === undefined ? undefined : stored.get(id);
      if (id === undefined || session === undefined) return undefined;
      if (isOver(session)) {
        stored.delete(id);
        return undefined;
      }
      session.seenAt = now();
      return sessionOf(id, session.user);
    },
    end(id) {
      stored.delete(id);
    },
    derive: (user, id) => sessionOf(id !== undefined && ID.test(id) ? id : newId(), user),
  };
}

const newId = (): string => randomBytes(24).toString("base64url");
const ID = /^[\w-]{32}$/;

/** Compares two secrets in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const key = randomBytes(32);
  const digest = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
