import { serverTests } from "./tests/services/server-tests.js";

// What `npm test` leaves to `npm run test:all`: whole evenings, faults, limits, and what only a release needs.
const SLOW = ["deploy", "docs", "faults", "limits", "scenarios"].map(
  (folder) => `/tests/${folder}/`,
);
/** Of the conformance suites the quick tests have those of the store and of the queue. */
const SLOW_CONFORMANCE = "/tests/conformance/(?!store|queue|ticks)";

const literally = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const isQuick = process.env.NIGHTDESK_TESTS === "quick";

export default {
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  testPathIgnorePatterns: [
    "/node_modules/",
    ...(isQuick ? [...SLOW, SLOW_CONFORMANCE] : []),
    ...(process.env.TEST_DATABASE_URL === undefined ? serverTests().map(literally) : []),
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "es6" } },
    ],
  },
  setupFiles: ["<rootDir>/tests/typescript-in-threads.js"],
  testTimeout: 60_000,
  // ESM modules of a test file are never freed: a worker that has grown collects garbage instead of testing.
  workerIdleMemoryLimit: "700MB",
};
