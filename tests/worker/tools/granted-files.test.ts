import { describe, expect, test } from "@jest/globals";
import type { Passage } from "../../../src/worker/evidence/types.ts";
import { filesWithin } from "../../../src/worker/tools/granted-files.ts";
import { SEARCH_INDEX } from "../../../src/worker/tools/search-index.ts";
import { parseArgs } from "../../../src/worker/tools/tool.ts";
import { toolReach } from "../../support/tool-reach.ts";
import type { FileParts } from "../../../src/worker/tools/granted-files.ts";

type Request = Parameters<FileParts["search"]>[0];

/** An index whose hits are these, best first; it keeps to beginning and number as the real one does. */
function indexOf(paths: readonly string[]): {
  readonly parts: FileParts;
  readonly requests: Request[];
} {
  const requests: Request[] = [];
  const hits = paths.map(
    (path, at) => ({ path, chunkKey: `${path}#${at}`, score: 1 / (at + 1) }) as Passage,
  );
  const search = async (request: Request): Promise<readonly Passage[]> => {
    requests.push(request);
    return hits
      .filter(({ path }) => path.startsWith(request.pathPrefix ?? ""))
      .slice(0, request.limit);
  };
  return { parts: { search } as unknown as FileParts, requests };
}

const OUTSIDE = Array.from({ length: 80 }, (_, at) => `private/${at}.md`);
const searchIn = (roots: readonly string[], paths: readonly string[]) =>
  filesWithin(roots, indexOf(paths).parts, new AbortController().signal).search;
const pathsOf = (passages: readonly Passage[]): readonly string[] =>
  passages.map(({ path }) => path);

describe("a search of a grant", () => {
  test("finds what it holds behind any number of better hits outside, which it counts", async () => {
    const search = searchIn(["notes"], [...OUTSIDE, "notes-old/a.md", "notes/a.md", "notes/b.md"]);
    const { passages, hidden } = await search({ text: "x", limit: 1, pathPrefix: null });
    expect(pathsOf(passages)).toEqual(["notes/a.md"]);
    expect(hidden).toBe(50);
  });

  test("keeps to the days of the job, and to narrower ones of the call", async () => {
    const { parts, requests } = indexOf(["notes/a.md"]);
    const days = { since: "2026-01-01", until: "2026-06-30" };
    const { search } = filesWithin([], parts, new AbortController().signal, days);
    const asked = { text: "x", limit: 1, pathPrefix: null };
    await search(asked);
    await search({ ...asked, documents: { since: "2025-01-01", until: "2026-03-31" } });
    expect(requests.map(({ documents }) => documents)).toEqual([
      days,
      { since: "2026-01-01", until: "2026-03-31" },
    ]);
  });

  test("takes the operators that the tool names, and searches what has no word to find as it stands", async () => {
    const { parts, requests } = indexOf(["notes/a.md"]);
    const { search } = filesWithin([], parts, new AbortController().signal);
    for (const text of ['rope -old "red boat"', "-old"])
      await search({ text, limit: 1, pathPrefix: null });
    expect(requests).toMatchObject([
      { text: "rope red boat", phrases: ["red boat"], excluded: ["old"] },
      { text: "-old" },
    ]);
  });

  test("of several folders gives the best of all of them, each once", async () => {
    const paths = ["b/1.md", "c/1.md", "a/1.md", "b/2.md", "a/sub/2.md"];
    const search = searchIn(["a", "b", "a/sub"], paths);
    const { passages, hidden } = await search({ text: "x", limit: 3, pathPrefix: null });
    expect(pathsOf(passages)).toEqual(["b/1.md", "a/1.md", "b/2.md"]);
    expect(hidden).toBe(1);
  });

  test.each([
    ["within it", "notes/2026/", ["notes/2026/a.md"], 0],
    ["around it", "no", ["notes/a.md", "notes/2026/a.md"], 1],
    ["elsewhere", "private/", [], 50],
  ])("looks where it is asked to, %s", async (_, pathPrefix, expected, outside) => {
    const paths = ["notes/a.md", "notes/2026/a.md", "notes-old/a.md", ...OUTSIDE];
    const { passages, hidden } = await searchIn(
      ["notes"],
      paths,
    )({
      text: "x",
      limit: 8,
      pathPrefix,
    });
    expect(pathsOf(passages)).toEqual(expected);
    expect(hidden).toBe(outside);
  });
});

describe("a file of a grant", () => {
  const PLACES: Readonly<Record<string, string>> = {
    "a.md": "notes/a.md",
    "b.md": "private/b.md",
    "moved.md": "notes/moved.md",
  };
  const read: string[] = [];
  /** Of one that is moved while it is opened, what is read lies elsewhere than it was found. */
  const parts = {
    locate: async (name: string) => ({ kind: "located", path: PLACES[name] ?? name }),
    readTextFile: async ({ path }: { readonly path: string }) => {
      read.push(path);
      return { kind: "text", path: path === PLACES["moved.md"] ? "private/moved.md" : path };
    },
    listPaths: async () => [...Object.values(PLACES), "notes-old/a.md"],
    settings: { ask: { max_chars_full_read: 100 } },
  } as unknown as FileParts;
  const files = filesWithin(["notes"], parts, new AbortController().signal);
  const denied = { kind: "refused", code: "PATH_DENIED" };

  test("is read where it lies in the folders, by what was found and by what was opened", async () => {
    expect(await files.readFile("a.md")).toMatchObject({ path: "notes/a.md" });
    expect(await files.readFile("b.md")).toMatchObject(denied);
    expect(await files.readFile("moved.md")).toMatchObject(denied);
    expect(read).toEqual(["notes/a.md", "notes/moved.md"]);
  });

  test("is located and listed there, and nowhere else", async () => {
    expect(await files.locate("a.md")).toEqual({ kind: "located", path: "notes/a.md" });
    expect(await files.locate("b.md")).toMatchObject(denied);
    expect(await files.listFiles()).toEqual(["notes/a.md", "notes/moved.md"]);
  });
});

describe("the tool for it", () => {
  test("hands on days and values of frontmatter, which the index keeps to", async () => {
    const asked: unknown[] = [];
    const reach = toolReach({
      search: async (request) => {
        asked.push(request);
        return { passages: [], hidden: 0 };
      },
    });
    const limits = { since: "2026-03-01", until: "2026-03-31", where: { status: "open" } };
    await SEARCH_INDEX.run({ query: "pump", ...limits }, reach);
    expect(asked).toEqual([{ text: "pump", limit: 8, pathPrefix: null, documents: limits }]);
  });

  test("tells of a day that there is not", () => {
    expect(parseArgs(SEARCH_INDEX, { query: "pump", since: "2026-02-31" })).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("since"),
    });
  });
});
