import type { Config } from "../../shared/config/schema.ts";
import type { ReadPage } from "./page-record.ts";

export const openPageReader =
  (_: Config): ReadPage =>
  async () => ({
    kind: "unreadable",
    why: "stub",
    lasts: "never",
  });
