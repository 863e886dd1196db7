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
  /** Begins the session of somebody who has signed in. */
  start(user: string): Session;
  /** The session of that id that somebody began by signing in, unless it has expired. */
  find(id: string | undefined): Session | undefined;
  end(id: string): void;
  /**
   * The session of somebody who need not sign in, by the id which his browser sent, or by a new one. Nothing of it is stored,
   * so that no number of them ends another.
   */
  derive(user: string, id: string | undefined): Session;
};

/** Of those who signed in. */
const MOST_SESSIONS = 1_000;

/**
 * Sessions end with the process. One that began by signing in is kept in memory; it expires when nobody used it for
 * `idleMs`, and after twice that time whatever happens.
 */
export function openSessions(idleMs: number, now: () => number): Sessions {
  const key = randomBytes(32);
  const kept = new Map<string, SessionTimes>();
  const sessionOf = (id: string, user: string): Session => {
    const csrf = createHmac("sha256", key).update(`${id} ${user}`).digest("base64url");
    return { id, user, csrf };
  };
  const isOver = ({ startedAt, seenAt }: SessionTimes): boolean =>
    now() - seenAt > idleMs || now() - startedAt > 2 * idleMs;
  return {
    start(user) {
      for (const [id, session] of kept) if (isOver(session)) kept.delete(id);
      // A map gives what was put into it first.
      for (const id of kept.keys()) if (kept.size >= MOST_SESSIONS) kept.delete(id);
      const id = newId();
      kept.set(id, { user, startedAt: now(), seenAt: now() });
      return sessionOf(id, user);
    },
    find(id) {
      const session = id === undefined ? undefined : kept.get(id);
      if (id === undefined || session === undefined) return undefined;
      if (isOver(session)) {
        kept.delete(id);
        return undefined;
      }
      session.seenAt = now();
      return sessionOf(id, session.user);
    },
    end(id) {
      kept.delete(id);
    },
    derive: (user, id) => sessionOf(id !== undefined && ID.test(id) ? id : newId(), user),
  };
}

const newId = (): string => randomBytes(24).toString("base64url");
const ID = /^[\w-]{32}$/;

/** Compares two secrets in a time that says nothing of either. */
export function isSameSecret(one: string, other: string): boolean {
  const key = randomBytes(32);
  const digest = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
