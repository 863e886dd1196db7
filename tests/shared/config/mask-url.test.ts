import { describe, expect, test } from "@jest/globals";
import { maskUrl } from "../../../src/shared/config/mask-url.ts";

describe("a URL", () => {
  test.each([
    ["postgres://nd:hush@db:5432/nd", "postgres://nd:***@db:5432/nd"],
    ["redis://:hush@cache:6379/0", "redis://:***@cache:6379/0"],
    ["postgres://db/nd?user=nd&password=hush&x=1", "postgres://db/nd?user=nd&password=***&x=1"],
    ["postgres://db/nd?p%61ssword=hush", "postgres://db/nd?p%61ssword=***"],
    ["postgres://db/nd?%zz=1&PGPASSWORD=hush", "postgres://db/nd?%zz=1&PGPASSWORD=***"],
    [
      "postgres://db/nd?sslkey=/k&sslpassword=hush#hush",
      "postgres://db/nd?sslkey=***&sslpassword=***",
    ],
    ["postgres://nd:hu@sh@db/nd", "postgres://nd:***@db/nd"],
    ["postgres://nd:hu/sh@db/nd", "postgres://nd:***@db/nd"],
    ["postgres://nd:hu?sh@db/nd", "postgres://nd:***@db/nd"],
    ["postgres://nd:hu#sh@db/nd", "postgres://nd:***@db/nd"],
    ["postgres://nd:hush@db/nd?password=hush", "postgres://nd:***@db/nd?password=***"],
    ["host=db password=hush user=nd", "host=db password=*** user=nd"],
    ["postgres:u:hush@h", "postgres:***@h"],
    ["postgres:/u:hush@h/db", "postgres:***@h/db"],
    ["postgres//u:hush@h", "postgres//u:***@h"],
    ["u:hush@h:5432/nd", "u:***@h:5432/nd"],
    ["--url=redis:u:hush@h", "--url=redis:***@h"],
  ])("%s shows as %s", (url, expected) => {
    expect(maskUrl(url)).toBe(expected);
    expect(maskUrl(url)).not.toMatch(/hu.?sh/);
  });

  test.each([
    "embedded",
    "postgres://nd@db:5432/nd",
    "redis://cache:6379",
    "http://[::1]:1",
    "0 1 * * *",
    "",
  ])("%j has nothing to hide", (url) => {
    expect(maskUrl(url)).toBe(url);
  });
});
