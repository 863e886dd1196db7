import { describe, expect, test } from "@jest/globals";
import { parseUrl } from "../../../src/shared/http/parse-url.ts";

describe("the URL of a text", () => {
  test("is the same at the first call and after thousands, when the engine has compiled its caller", () => {
    const read = (text: string): string | undefined => parseUrl(text)?.href;
    const readAll = Array.from({ length: 30_000 }, () => read("http://müller.example/straße"));
    expect(new Set(readAll)).toEqual(new Set(["http://xn--mller-kva.example/stra%C3%9Fe"]));
  });

  test("is found from a base", () => {
    expect(parseUrl("../ä.html", "https://a.example/b/c/")?.href).toBe(
      "https://a.example/b/%C3%A4.html",
    );
  });

  test.each(["", "a.md", "http://", "http://a b", "//a.example"])("of %j is none", (text) => {
    expect(parseUrl(text)).toBeUndefined();
  });
});
