import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { openDocumentReader } from "../../../../src/worker/documents/reader/reader.ts";
import { READER_LIMITS } from "../../../support/read-documents.ts";

const home = pathToFileURL(join(import.meta.dirname, "hostile-readers.ts")).href;
const MEMORY = 250_000_000;
/** Of Node's permissions. */
const DENIED = "ERR_ACCESS_DENIED";
const open = (timeoutMs = 20_000, procFolder?: string) => {
  const limits = { ...READER_LIMITS, timeoutMs, memoryBytes: MEMORY };
  const read = openDocumentReader(limits, procFolder);
  return (name: string, text = "") => read({ home, name }, Buffer.from(text));
};

describe("the process that reads documents", () => {
  test("reads one file after the other, and takes them in order", async () => {
    const read = open();
    const [first, second] = await Promise.all([read("whoAmI"), read("whoAmI")]);
    expect(first).toMatchObject({ kind: "text", text: expect.stringMatching(/^\d+$/) });
    expect(second).toEqual(first);
    const leaks: string[] = [];
    const note = ({ name }: Error) => leaks.push(name);
    process.on("warning", note);
    for (let file = 0; file < 15; file += 1) await read("echo", String(file));
    process.off("warning", note);
    expect(leaks).toEqual([]);
    expect(await read("throwLater")).toMatchObject({ text: "read all the same" });
  });

  test("is not given the environment of the worker", async () => {
    process.env["NIGHTDESK_TEST_SECRET"] = "open sesame";
    const read = open();
    const found = await read("environment");
    delete process.env["NIGHTDESK_TEST_SECRET"];
    expect(found).toMatchObject({ kind: "text" });
    expect(JSON.stringify(found)).not.toContain("sesame");
  });

  test("reads no file, writes none, and starts no program", async () => {
    const found = await open()("wish");
    const outcomes = JSON.parse(found.kind === "text" ? found.text : "{}") as object;
    expect(outcomes).toEqual({
      read: DENIED,
      list: DENIED,
      environment: DENIED,
      leave: DENIED,
      write: DENIED,
      writeBeside: DENIED,
      link: DENIED,
      start: DENIED,
    });
  });

  test.each([
    ["is not there", pathToFileURL("/no/such/reader.ts").href, "echo", "Cannot find module"],
    ["lacks a package", home, "lackPackage", "Cannot find package"],
    ["exports something else", home, "nothing", "exports no function nothing"],
  ])("tells of no file that %s, what reads it", async (_, at, name, said) => {
    const read = openDocumentReader(READER_LIMITS);
    await expect(read({ home: at, name }, Buffer.from("text"))).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringContaining(said),
    });
    expect(await read({ home, name: "echo" }, Buffer.from("next"))).toMatchObject({ text: "next" });
  });

  test("is killed when its time is over, and the next file is read by another", async () => {
    const read = open(6_000);
    const before = await read("whoAmI");
    let ticks = 0;
    const heart = setInterval(() => (ticks += 1), 20);
    expect(await read("spin")).toEqual({
      kind: "unreadable",
      code: "FILE_TOO_LARGE",
      why: "takes longer to read than 6 s: split it, or raise documents.reader.timeout_s.",
      lasts: "perhaps",
    });
    clearInterval(heart);
    // Nobody waited: 300 beats would be all of them.
    expect(ticks).toBeGreaterThan(50);
    const after = await read("whoAmI");
    expect(after).toMatchObject({ kind: "text" });
    expect(after).not.toEqual(before);
  });

  test("is killed when it holds too much memory", async () => {
    const read = open();
    expect(await read("grow")).toMatchObject({
      kind: "unreadable",
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("more memory to read than 250 MB"),
      lasts: "perhaps",
    });
    expect(await read("echo", "next")).toMatchObject({ kind: "text", text: "next" });
  });

  test("is killed when it holds too much memory where there is no /proc", async () => {
    const read = open(110_000, "/no/proc");
    const before = await read("whoAmI");
    expect(await read("hold")).toMatchObject({
      kind: "unreadable",
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("more memory to read than 250 MB"),
      lasts: "perhaps",
    });
    const after = await read("whoAmI");
    expect(after).toMatchObject({ kind: "text" });
    expect(after).not.toEqual(before);
  }, 120_000);

  test("that dies twice over a file leaves the file unread, and nothing else", async () => {
    const read = open();
    expect(await read("crash")).toMatchObject({
      kind: "unreadable",
      code: "FILE_FORMAT_INVALID",
      lasts: "never",
    });
    expect(await read("recurse")).toMatchObject({
      kind: "unreadable",
      code: "FILE_FORMAT_INVALID",
      why: expect.stringContaining("RangeError"),
      lasts: "always",
    });
    expect(await read("meetSystemError")).toMatchObject({ kind: "unreadable", lasts: "never" });
    expect(await read("echo", "next")).toMatchObject({ kind: "text", text: "next" });
  });
});
