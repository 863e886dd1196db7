import { serverTests } from "./tests/services/server-tests.js";

// What `npm test` leaves to `npm run test:all`: whole evenings, faults, limits, and what only a release needs. Of the
// conformance suites the quick tests have those of the store and of the queue.
const SLOW_FOLDERS = ["dashboard/browser", "deploy", "docs", "faults", "limits", "scenarios"];
// Each takes 5 to 30 s, most of it waiting.
const SLOW_FILES = [
  "architecture/extend",
  "architecture/import-rules",
  "embedded/turns",
  "embedded/upkeep",
  "producer/model-host",
  "worker/embedders/transformers/entailment",
  "worker/embedders/transformers/transformers",
  "worker/index/concurrent-scans",
  "worker/index/edit-sequences",
  "worker/index/hostile-files",
  "worker/index/long-documents",
  "worker/jobs/long-file",
  "worker/models/slow-drips",
  "worker/models/transformers",
  "worker/sandbox/shell/corpus",
  "worker/sandbox/shell/escapes",
  "worker/sandbox/swap-race",
];
const SLOW = [
  ...SLOW_FOLDERS.map((name) => `/tests/${name}/`),
  "/tests/conformance/(?!store|queue)",
  ...SLOW_FILES.map((name) => `/tests/${name}\\.test\\.ts$`),
];
/** By the name that scripts/test.js gives a run: what it leaves out. */
const LEFT_OUT = {
  quick: SLOW,
  busy: ["/tests/(limits|conformance|faults|scenarios)/"],
  waiting: ["/tests/(?!(conformance|faults|scenarios)/)"],
  limits: ["/tests/(?!limits/)"],
};

const literally = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

export default {
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  testPathIgnorePatterns: [
    "/node_modules/",
    ...(LEFT_OUT[process.env.NIGHTDESK_TESTS] ?? []),
    ...(process.env.TEST_DATABASE_URL === undefined ? serverTests().map(literally) : []),
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "es6" } },
    ],
  },
  reporters: [
    "default",
    ...(process.env.NIGHTDESK_RUNNING_FILES === undefined
      ? []
      : ["<rootDir>/tests/services/running-files.js"]),
  ],
  testRunner: "<rootDir>/tests/services/run-test-file.js",
  testSequencer: "<rootDir>/tests/services/longest-first.js",
  setupFiles: ["<rootDir>/tests/typescript-in-threads.js"],
  testTimeout: 60_000,
  // ESM modules of a test file are never freed: a worker that has grown collects garbage instead of testing.
  workerIdleMemoryLimit: "700MB",
};
