import { describe, expect, test } from "@jest/globals";
import { removeThinking } from "../../../src/worker/models/streamed-reply.ts";

describe("removeThinking", () => {
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
    ["a mark of gpt-oss in an answer", "It ends with <|end|> then.", "It ends with <|end|> then."],
  ])("%s", (...[, text, visible]) => {
    expect(removeThinking(text)).toBe(visible);
  });

  test("leaves a call after a block whole", () => {
    const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
    expect(removeThinking(`<think>{"type":"x"}</think>\n${call}`)).toBe(call);
  });
});
