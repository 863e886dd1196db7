import { describe, expect, test } from "@jest/globals";
import { urlKey, urlsIn } from "../../../src/worker/web/url-rules.ts";

describe("URLs in a text", () => {
  test.each([
    ["Read https://a.example/x.", "https://a.example/x"],
    ["(see http://a.example/x?y=1#z)", "http://a.example/x?y=1"],
    ["<https://a.example/x>", "https://a.example/x"],
    ["HTTPS://A.Example:443/X", "https://a.example/X"],
    ["**https://a.example/x**", "https://a.example/x"],
    ["https://a.example/x_(y)", "https://a.example/x_(y)"],
  ])("%s", (text, url) => {
    expect([...urlsIn(text)]).toContain(url);
  });

  test("are those that stand there, and none that begins like one", () => {
    const urls = urlsIn("Look at https://a.example/report?id=7 first.");
    expect(urls.has(urlKey("https://a.example/report?id=7&d=secret") ?? "")).toBe(false);
    expect(urls.has(urlKey("https://a.example/report") ?? "")).toBe(false);
    expect(urls.has(urlKey("https://a.example/report?id=7#part") ?? "")).toBe(true);
  });

  test.each([
    ["a long name", "https://" + "x.".repeat(100_000)],
    ["marks behind one", "https://a.example/" + ".".repeat(500_000) + "a"],
    ["beginnings", "http://".repeat(100_000)],
    ["many", "http://a.example/x ".repeat(100_000)],
  ])("are found within a time that is bounded in %s", (_, text) => {
    const startedAt = performance.now();
    urlsIn(text);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
