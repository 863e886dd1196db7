import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");

test("the packed product holds what runs, and neither sources nor tests", async () => {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json"], {
    cwd: root,
    env: { ...process.env, npm_config_ignore_scripts: "true" },
    maxBuffer: 16 * 1024 * 1024,
  });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      join("bin", "nightdesk.js"),
      join("dist", "main.js"),
      join("assets", "dashboard", "desk.js"),
      join("configs", "default.yaml"),
      join("configs", "embedded.yaml"),
      join("migrations", "0001_jobs.sql"),
      join("examples", "nightdesk.yaml"),
      "README.md",
      join("docs", "guide.md"),
      join("docs", "reference", "commands.md"),
    ]),
  );
  expect(
    paths.filter((path) =>
      /^(?:src|tests|bench|scripts|examples\/\.nightdesk|\.|docs\/(?:open|development)\.md)|\.map$|build-stamp/.test(
        path,
      ),
    ),
  ).toEqual([]);
});
