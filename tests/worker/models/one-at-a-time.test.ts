import { describe, expect, test } from "@jest/globals";
import { holdOneAtATime } from "../../../src/worker/models/one-at-a-time.ts";

type Held = { readonly name: string; isUsable: boolean };

function world() {
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const holder = holdOneAtATime<Held>({
    open: async (name) => {
      log.push(`open ${name}`);
      await Promise.resolve();
      if (name === "broken") throw new Error("does not load");
      return { name, isUsable: true };
    },
    close: ({ name }) => log.push(`close ${name}`),
    isUsable: ({ isUsable }) => isUsable,
  });
  const never = new AbortController().signal;
  /** Uses it until it is let go. */
  const use = (name: string, id: string, signal = never): Promise<string> =>
    holder.with(name, signal, async (held) => {
      log.push(`${id} uses ${held.name}`);
      await new Promise<void>((resolve) => gates.set(id, resolve));
      return id;
    });
  const letGo = async (id: string): Promise<void> => {
    gates.get(id)?.();
    await settle();
  };
  return { log, holder, use, letGo };
}

/** Everything that is ready to run has run. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("one at a time", () => {
  test("is shared by those who want the same, and opened once", async () => {
    const { log, use, letGo } = world();
    const both = [use("a", "1"), use("a", "2")];
    await settle();
    expect(log).toEqual(["open a", "1 uses a", "2 uses a"]);
    await letGo("1");
    await letGo("2");
    expect(await Promise.all(both)).toEqual(["1", "2"]);
    expect(log).not.toContain("close a");
  });

  test("is another's when all are done, before those who came later for the first", async () => {
    const { log, use, letGo } = world();
    const all = [use("a", "1"), use("b", "2"), use("a", "3"), use("b", "4")];
    await settle();
    expect(log).toEqual(["open a", "1 uses a"]);
    await letGo("1");
    expect(log).toEqual(["open a", "1 uses a", "close a", "open b", "2 uses b"]);
    await letGo("2");
    expect(log.slice(5)).toEqual(["close b", "open a", "3 uses a"]);
    await letGo("3");
    await letGo("4");
    expect(await Promise.all(all)).toEqual(["1", "2", "3", "4"]);
  });

  test("passes over who went away while it waited", async () => {
    const { log, use, letGo } = world();
    const leaving = new AbortController();
    const first = use("a", "1");
    const second = use("b", "2", leaving.signal);
    const third = use("a", "3");
    await settle();
    leaving.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    await settle();
    // Nobody waits for another any more.
    expect(log).toEqual(["open a", "1 uses a", "3 uses a"]);
    await letGo("1");
    await letGo("3");
    await Promise.all([first, third]);
  });

  test("is opened anew when it can't be used any more, or could not be opened", async () => {
    const { log, holder, use, letGo } = world();
    const never = new AbortController().signal;
    await holder.with("a", never, async (held) => {
      held.isUsable = false;
    });
    const again = use("a", "1");
    await settle();
    await letGo("1");
    await again;
    expect(log).toEqual(["open a", "open a", "1 uses a"]);
    for (let time = 0; time < 2; time += 1) {
      await expect(use("broken", "2")).rejects.toThrow("does not load");
    }
    expect(log.filter((line) => line === "open broken")).toHaveLength(2);
  });

  test("is closed when it comes up after everybody went away and another was asked for", async () => {
    const log: string[] = [];
    let finish: ((name: string) => void) | undefined;
    const holder = holdOneAtATime<string>({
      open: (name) =>
        name === "slow" ? new Promise((resolve) => (finish = resolve)) : Promise.resolve(name),
      close: (name) => log.push(`close ${name}`),
      isUsable: () => true,
    });
    const leaving = new AbortController();
    const slow = holder.with("slow", leaving.signal, () => Promise.resolve());
    await settle();
    leaving.abort(new Error("gone"));
    await expect(slow).rejects.toThrow("gone");
    const never = new AbortController().signal;
    expect(await holder.with("b", never, (name) => Promise.resolve(name))).toBe("b");
    finish?.("slow");
    await settle();
    expect(log).toEqual(["close slow"]);
    holder.release();
    expect(log).toEqual(["close slow", "close b"]);
  });
});
