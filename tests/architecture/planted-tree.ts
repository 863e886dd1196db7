import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const copied = [
  ...["src", "package.json", "tsconfig.json", "eslint.config.js"],
  ".dependency-cruiser.js",
];

const reportSchema = z.array(
  z.object({
    filePath: z.string(),
    messages: z.array(z.object({ ruleId: z.string().nullable() })),
  }),
);

/** A copy of the tree to plant violations in, linted by the checkout's own rules. */
export interface PlantedTree {
  /** Writes a file, given by its path below the tree. */
  readonly plant: (file: string, text: string) => void;
  /** The rules that the given files violate, by file, each rule once. */
  readonly lint: (files: readonly string[]) => Promise<Record<string, string[]>>;
  /** What `npm run check` says of cycles in the tree. */
  readonly findCycles: () => Promise<string>;
  readonly remove: () => void;
}

export function copyTree(): PlantedTree {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-lint-"));
  for (const name of copied) cpSync(join(checkout, name), join(folder, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  return {
    plant: (file, text) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    lint: async (files) => violationsByFile(folder, await runEslint(folder, files)),
    findCycles: () =>
      runPackage("dependency-cruiser/bin/dependency-cruise.mjs", folder, [
        ...["src", "--config", ".dependency-cruiser.js", "--output-type", "err"],
      ]),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const runEslint = (cwd: string, files: readonly string[]): Promise<string> =>
  runPackage("eslint/bin/eslint.js", cwd, ["--format", "json", ...files]);

// A process of its own: the path rules are relative to the current folder of the process.
function runPackage(bin: string, cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(checkout, "node_modules", bin), ...args],
      { cwd },
      (error, stdout, stderr) => {
        // An exit code may only say that there are violations, or how many.
        if (error !== null && stdout === "") reject(new Error(stderr));
        else resolve(stdout);
      },
    );
  });
}

function violationsByFile(folder: string, report: string): Record<string, string[]> {
  return Object.fromEntries(
    reportSchema
      .parse(JSON.parse(report))
      .map(({ filePath, messages }) => [
        relative(folder, filePath),
        [...new Set(messages.map(({ ruleId }) => ruleId ?? "the file cannot be linted"))].sort(),
      ]),
  );
}
