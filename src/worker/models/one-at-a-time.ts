import { unlessAborted } from "../offload/offload.ts";

/** Holds one opened value by name until another name is requested: a model takes much of a machine's memory. */
export type Holder<Held> = {
  /**
   * Runs `use` with the value of this name. Callers that request the same name share it; a caller that requests another
   * waits until they are done, and comes before any later caller.
   * @throws what `open` and `use` throw; the signal's reason while it waits
   */
  with<T>(name: string, signal: AbortSignal, use: (held: Held) => Promise<T>): Promise<T>;
  /** Closes the held value, if nobody uses it. */
  readonly release: () => void;
};

type Entry = { readonly name: string; readonly enter: () => void };
type Place<Held> = {
  readonly name: string;
  held?: Held | undefined;
  opening?: Promise<Held> | undefined;
};

export function holdOneAtATime<Held>({
  open,
  close,
  isUsable,
}: {
  readonly open: (name: string) => Promise<Held>;
  readonly close: (held: Held) => void;
  readonly isUsable: (held: Held) => boolean;
}): Holder<Held> {
  let current: Place<Held> | undefined;
  let users = 0;
  const line: Entry[] = [];

  const canEnter = (name: string): boolean =>
    users === 0 || (current?.name === name && line.length === 0);

  const switchTo = (name: string): void => {
    if (current?.name === name) return;
    if (current?.held !== undefined) close(current.held);
    current = { name };
  };

  const wait = (name: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        line.splice(line.indexOf(entry), 1);
        reject(signal.reason as Error);
        admit();
      };
      const entry: Entry = {
        name,
        enter() {
          signal.removeEventListener("abort", stop);
          users += 1;
          resolve();
        },
      };
      line.push(entry);
      signal.addEventListener("abort", stop, { once: true });
    });

  /** Admits the first in line, and those right behind it that request the same name. */
  const admit = (): void => {
    const [first] = line;
    if (first === undefined || (users > 0 && current?.name !== first.name)) return;
    switchTo(first.name);
    while (line[0]?.name === first.name) line.shift()?.enter();
  };

  /** The opening continues when the caller that started it aborts: the next caller probably requests the same name. */
  const openAt = (place: Place<Held>): Promise<Held> =>
    (place.opening ??= open(place.name).then(
      (held) => {
        place.opening = undefined;
        if (current === place) place.held = held;
        else close(held);
        return held;
      },
      (error: unknown) => {
        place.opening = undefined;
        throw error;
      },
    ));

  const heldNow = async (place: Place<Held>, signal: AbortSignal): Promise<Held> => {
    if (place.held !== undefined && isUsable(place.held)) return place.held;
    return unlessAborted(openAt(place), signal);
  };

  return {
    async with(name, signal, use) {
      signal.throwIfAborted();
      if (canEnter(name)) {
        switchTo(name);
        users += 1;
      } else {
        await wait(name, signal);
      }
      try {
        const place = current ?? { name };
        return await use(await heldNow(place, signal));
      } finally {
        users -= 1;
        if (users === 0) admit();
      }
    },
    release() {
      if (users > 0 || current === undefined) return;
      if (current.held !== undefined) close(current.held);
      current = undefined;
    },
  };
}
