import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { configSchema } from "../../src/shared/config/schema.ts";
import { DOCS, readDoc, root } from "./read-doc.ts";

const TESTS = readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" }).map(
  (path) => `/tests/${path}`,
);
const topLevelKeys = Object.keys(configSchema.shape);

describe.each(DOCS)("%s", (name) => {
  const text = readDoc(name);

  test("names configuration keys that exist", () => {
    expect(keysIn(text).filter((key) => !isKey(configSchema, key.split(".")))).toEqual([]);
  });

  test("links to files that exist", () => {
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target);
    const local = links.filter((target) => !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(root, dirname(name), target)))).toEqual([]);
  });

  test("links to headings that exist", () => {
    const links = [...text.matchAll(/\]\(((?:[\w./-]+\.md)?)#([^)]+)\)/g)];
    const isMissing = ([, target = "", anchor = ""]: readonly string[]) =>
      !anchorsOf(
        readFileSync(join(root, target === "" ? name : join(dirname(name), target)), "utf8"),
      ).has(anchor);
    expect(links.filter(isMissing).map(([link]) => link)).toEqual([]);
  });

  test("names tests that exist, each by as much of its path as no other has", () => {
    const names = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, test = ""]) => test);
    const isOne = (test: string) => TESTS.filter((path) => path.endsWith(`/${test}`)).length === 1;
    expect(names.filter((test) => !isOne(test))).toEqual([]);
  });

  test("names files of the repository that exist", () => {
    const paths = [
      ...text.matchAll(/`((?:src|tests|configs|scripts|bench|examples|docs)\/[\w./-]+)`/g),
    ];
    expect(
      paths.map(([, path = ""]) => path).filter((path) => !existsSync(join(root, path))),
    ).toEqual([]);
  });
});

test("the documents name configuration keys and files at all", () => {
  const settings = "docs/reference/settings.md";
  const others = DOCS.filter((name) => name !== settings);
  expect(keysIn(others.map(readDoc).join("\n")).length).toBeGreaterThan(30);
  expect(keysIn(readDoc(settings)).length).toBeGreaterThan(50);
  expect(readDoc("SECURITY.md")).toMatch(/\]\(tests\//);
});

/** What links to the headings of a text end with, as a forge makes it of them. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

/** What stands in backticks as `a.b` and begins with a key of the configuration. */
const keysIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)[^`]*`/g)]
    .map(([, key = ""]) => key)
    .filter((key) => topLevelKeys.includes(key.split(".")[0] ?? ""));

function isKey(schema: unknown, steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return isKey(schema.unwrap(), steps);
  if (!(schema instanceof z.ZodObject)) return false;
  const shape: Readonly<Record<string, unknown>> = schema.shape;
  return step in shape && isKey(shape[step], rest);
}
