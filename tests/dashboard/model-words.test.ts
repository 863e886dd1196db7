import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Config } from "../../src/shared/config/schema.ts";
import { modelWords } from "../../src/dashboard/pages/start-form.ts";
import { configFor } from "./open-desk.ts";

describe("the model that the order page names", () => {
  let settings: Config["model"];
  beforeAll(async () => {
    const { model } = await configFor();
    const aliases = { large: "llama3.1:70b" };
    settings = { ...model, provider: "ollama", name: "usual", fast: null, big: null, aliases };
  });
  const words = (question: string, asked: string, changes: Partial<Config["model"]> = {}): string =>
    modelWords(question, asked, { ...settings, ...changes });
  const both = { fast: "small", big: "large", prefer_fast: true, big_triggers: ["compare"] };

  test("is that of the configuration, and not model.name where fast and big take its place", () => {
    expect(words("Rent?", "")).toBe("usual");
    expect(words("Rent?", "", both)).toBe("small");
    expect(words("Rent?", "", { ...both, prefer_fast: false })).toBe("llama3.1:70b");
  });

  test("are both where the words of a question ask for the big one", () => {
    expect(words("Compare the rents", "", both)).toBe("small, then llama3.1:70b");
  });

  test("is the one behind an alias", () => {
    expect(words("Rent?", "large")).toBe("large: llama3.1:70b");
    expect(words("Rent?", "usual")).toBe("usual");
  });

  test("is said of a desk without one, too", () => {
    expect(words("Rent?", "", { name: null })).toBe("none is configured: model.name");
    expect(words("Rent?", "", { provider: "extractive" })).toBe("extractive");
  });
});
