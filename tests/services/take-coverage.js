// Writes what a file of tests reached into the folder of NODE_V8_COVERAGE when it ends: a worker of jest that has grown is
// killed, and would write nothing.
import { takeCoverage } from "node:v8";
import { afterAll } from "@jest/globals";

afterAll(() => takeCoverage());
