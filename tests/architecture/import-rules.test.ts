import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { copyTree } from "./planted-tree.ts";
import type { PlantedTree } from "./planted-tree.ts";

const imports = (path: string): string =>
  `import { planted } from "${path}";\n\nexport const seen = planted;\n`;
const importsPackage = (name: string): string =>
  `import * as planted from "${name}";\n\nexport const seen: unknown = planted;\n`;

interface Violation {
  readonly title: string;
  readonly file: string;
  readonly text: string;
  readonly rule: string;
}

const restrictedPath = "import-x/no-restricted-paths";
const restrictedImport = "no-restricted-imports";

const violations: Violation[] = [
  {
    title: "a producer that imports the worker",
    file: "src/producer/planted-a.ts",
    text: imports("../worker/planted.ts"),
    rule: restrictedPath,
  },
  {
    title: "the worker importing a producer",
    file: "src/worker/planted-b.ts",
    text: imports("../producer/planted.ts"),
    rule: restrictedPath,
  },
  {
    title: "a check of answers that imports rows of jobs",
    file: "src/worker/verify/planted-c.ts",
    text: imports("../../shared/store/jobs/planted.ts"),
    rule: restrictedPath,
  },
  ...[
    ["models", "answer"],
    ["answer", "verify"],
    ["verify", "answer"],
    ["verify", "jobs"],
    ["verify", "embedders"],
    ["evidence", "verify"],
    ["hosts", "services"],
    ["documents", "jobs"],
    ["embedders", "index"],
    ["search", "answer"],
    ["text", "evidence"],
    ["text", "tools"],
    ["models", "tools"],
    ["evidence", "tools"],
    ["offload", "models"],
    ["delivery", "jobs"],
    ["jobs", "services"],
    ["jobs", "delivery"],
    ["tools", "delivery"],
  ].map(([room = "", other = ""]) => ({
    title: `${room} importing ${other}, also for a type`,
    file: `src/worker/${room}/planted-in-${room}-of-${other}.ts`,
    text: `import type { planted } from "../${other}/planted.ts";\n\nexport type Seen = typeof planted;\n`,
    rule: restrictedPath,
  })),
  {
    title: "shared code that imports a process",
    file: "src/shared/planted-e.ts",
    text: imports("../worker/planted.ts"),
    rule: restrictedPath,
  },
  {
    title: "what is stored importing what people read, also for a type",
    file: "src/shared/store/planted-in-store-of-views.ts",
    text: `import type { planted } from "../views/planted.ts";\n\nexport type Seen = typeof planted;\n`,
    rule: restrictedPath,
  },
  {
    title: "a check of answers that imports what people read",
    file: "src/worker/verify/planted-in-verify-of-views.ts",
    text: imports("../../shared/views/planted.ts"),
    rule: restrictedPath,
  },
  {
    title: "the database process importing a worker",
    file: "src/embedded/planted-f.ts",
    text: imports("../worker/planted.ts"),
    rule: restrictedPath,
  },
  ...["worker", "producer", "embedded"].map((other) => ({
    title: `the dashboard importing the ${other}`,
    file: `src/dashboard/planted-of-${other}.ts`,
    text: imports(`../${other}/planted.ts`),
    rule: restrictedPath,
  })),
  ...["worker", "producer", "dashboard"].map((other) => ({
    title: `the door for programs importing the ${other}`,
    file: `src/serve/planted-of-${other}.ts`,
    text: imports(`../${other}/planted.ts`),
    rule: restrictedPath,
  })),
  {
    title: "a page that talks to the web framework",
    file: "src/dashboard/pages/planted-hono.ts",
    text: importsPackage("hono"),
    rule: restrictedImport,
  },
  {
    title: "a second file that talks to the queue library",
    file: "src/worker/planted-g.ts",
    text: importsPackage("bullmq"),
    rule: restrictedImport,
  },
  {
    title: "a second file that talks to the database driver",
    file: "src/shared/store/planted-h.ts",
    text: importsPackage("pg"),
    rule: restrictedImport,
  },
  {
    title: "a second file that opens the embedded database",
    file: "src/embedded/planted-i.ts",
    text: importsPackage("@electric-sql/pglite"),
    rule: restrictedImport,
  },
  {
    title: "the environment read outside main.ts",
    file: "src/worker/planted-j.ts",
    text: 'export const home = process.env["HOME"];\n',
    rule: "no-restricted-properties",
  },
  {
    title: "a default export",
    file: "src/worker/planted-m.ts",
    text: "export default 1;\n",
    rule: "import-x/no-default-export",
  },
  {
    title: "output by console",
    file: "src/worker/planted-n.ts",
    text: 'console.log("planted");\n',
    rule: "no-console",
  },
  {
    title: "a function of five parameters",
    file: "src/worker/planted-o.ts",
    text: "export const add = (a: number, b: number, c: number, d: number, e: number): number => a + b + c + d + e;\n",
    rule: "max-params",
  },
];

const targets = [
  "src/worker/planted.ts",
  "src/producer/planted.ts",
  "src/embedded/planted.ts",
  "src/dashboard/planted.ts",
  "src/shared/store/planted.ts",
  "src/shared/views/planted.ts",
  "src/shared/store/jobs/planted.ts",
  ...[
    "answer",
    "delivery",
    "embedders",
    "evidence",
    "index",
    "jobs",
    "models",
    "services",
    "tools",
    "verify",
  ].map((room) => `src/worker/${room}/planted.ts`),
];

const allowed: Record<string, string> = {
  "src/worker/planted-p.ts": imports("./answer/planted.ts"),
  "src/worker/jobs/planted-r.ts": imports("../verify/planted.ts"),
  "src/producer/planted-q.ts": imports("../shared/store/planted.ts"),
  "src/shared/views/planted-s.ts": imports("../store/planted.ts"),
};

describe("lint catches", () => {
  let tree: PlantedTree;
  let caught: Record<string, string[]>;

  beforeAll(async () => {
    tree = copyTree();
    for (const file of targets) tree.plant(file, "export const planted = 1;\n");
    for (const { file, text } of violations) tree.plant(file, text);
    for (const [file, text] of Object.entries(allowed)) tree.plant(file, text);
    caught = await tree.lint([
      ...violations.map(({ file }) => file),
      ...targets,
      ...Object.keys(allowed),
    ]);
  });

  afterAll(() => {
    tree.remove();
  });

  test.each(violations)("$title", ({ file, rule }) => {
    expect(caught[file]).toEqual([rule]);
  });

  test("nothing in files that keep to the rules", () => {
    for (const file of [...targets, ...Object.keys(allowed)]) expect(caught[file]).toEqual([]);
  });
});

test("the check catches a cycle, also one that only types close", async () => {
  const tree = copyTree();
  try {
    tree.plant("src/worker/planted-w.ts", 'export { seen } from "./planted-x.ts";\n');
    tree.plant("src/worker/planted-x.ts", 'export { seen } from "./planted-w.ts";\n');
    tree.plant("src/worker/planted-y.ts", 'export type { Seen } from "./planted-z.ts";\n');
    tree.plant("src/worker/planted-z.ts", 'export type { Seen } from "./planted-y.ts";\n');
    const found = await tree.findCycles();
    expect(found).toContain("no-cycle: src/worker/planted-w.ts");
    expect(found).toContain("no-cycle: src/worker/planted-y.ts");
  } finally {
    tree.remove();
  }
});
