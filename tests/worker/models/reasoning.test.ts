import { describe, expect, test } from "@jest/globals";
import { boundReasoning, splitReasoning } from "../../../src/worker/models/reasoning.ts";

describe("splitReasoning", () => {
  test.each([
    ["nothing to remove", "Hello.", "Hello."],
    ["a block before", "<think>hm</think>\n\nHello.", "Hello."],
    ["two blocks", "<think>a</think>Hel<think>b</think>lo.", "Hello."],
    ["a block that the template opened", "hm hm</think>Hello.", "Hello."],
    ["a block that never ends", "Hello.<think>and so on", "Hello."],
    ["nothing but a block", "<think>hm</think>", ""],
    ["Claude's word for it", "<thinking>hm</thinking>Hello.", "Hello."],
    ["reasoning in its own tag", "<reasoning>hm</reasoning>Hello.", "Hello."],
    ["a thought", "<thought>hm</thought>Hello.", "Hello."],
    ["Seed's", "<seed:think>hm</seed:think>Hello.", "Hello."],
    ["Mistral's", "[THINK]hm[/THINK]Hello.", "Hello."],
    [
      "channels of gpt-oss",
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
      "Hello.",
    ],
    ["a channel that never ends", "<|channel|>analysis<|message|>hm", ""],
    ["a channel of Gemma", "<|channel>thought\nhm\n<channel|>Hello.", "Hello."],
    ["an empty channel of Gemma", "<|channel>thought\n<channel|>Hello.", "Hello."],
    ["a channel that the template opened", "hm\n<channel|>Hello.", "Hello."],
    ["Kimi's", "◁think▷hm◁/think▷Hello.", "Hello."],
    ["MedGemma's", "<unused94>thought\nhm\n<unused95>Hello.", "Hello."],
    ["Apertus'", "<|inner_prefix|>hm<|inner_suffix|>Hello.", "Hello."],
    ["the end of a turn", "Hello.<end_of_turn>", "Hello."],
    [
      "what is said for somebody else",
      "Hello.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks!",
      "Hello.",
    ],
    ["a turn between its marks", "<s>Hello.</s>", "Hello."],
    ["several ends", "Hello.<|im_end|>\n<|endoftext|>", "Hello."],
    ["text that is struck out", "<s>Hello.</s> Bye.", "<s>Hello.</s> Bye."],
    [
      "the end of a turn in an answer",
      "It ends with <|im_end|> then.",
      "It ends with <|im_end|> then.",
    ],
    ["a mark of gpt-oss in an answer", "It ends with <|end|> then.", "It ends with <|end|> then."],
  ])("%s", (...[, text, visible]) => {
    expect(splitReasoning(text).text).toBe(visible);
  });

  test("leaves a call after a block whole", () => {
    const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
    expect(splitReasoning(`<think>{"type":"x"}</think>\n${call}`).text).toBe(call);
  });

  test.each([
    ["blocks, in their order", "<think>a</think>Hel<think>b</think>lo.", ["a", "b"]],
    ["what the template opened", "hm hm</think>Hello.", ["hm hm"]],
    ["a block that never ends", "Hello.<think>and so on", ["and so on"]],
    [
      "a channel of gpt-oss",
      "<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>Hello.",
      ["hm"],
    ],
    ["nothing of a plain reply", "Hello.", []],
  ])("keeps apart %s", (...[, text, reasoning]) => {
    expect(splitReasoning(text).reasoning).toEqual(reasoning);
  });
});

describe("boundReasoning", () => {
  test("puts the field before blocks", () => {
    expect(boundReasoning(["first \n", "", " then"])).toEqual({ text: "first\n\nthen", chars: 11 });
    expect(boundReasoning([" \n", ""])).toBeNull();
  });

  test("keeps beginning and end of a long one, and never half a character", () => {
    const bound = boundReasoning([`a${"🚋".repeat(100_000)}z`]);
    expect(bound?.chars).toBe(100_002);
    expect([...(bound?.text ?? "")]).toHaveLength(
      64_000 + "\n[36002 characters left out]\n".length,
    );
    expect(bound?.text).toMatch(/^a🚋+\n\[36002 characters left out\]\n🚋+z$/u);
  });
});
