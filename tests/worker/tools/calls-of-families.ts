/** What a reply is expected to be read as: a read of one file, unless it says otherwise. */
export type ReadReply = {
  readonly what: string;
  readonly reply: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** What follows the call; nothing unless it says otherwise. */
  readonly trailing?: string;
};

const JSON_ARGS = '{"path": "notes/rail.md"}';
const NATIVE = `{"name": "read_text_file", "arguments": ${JSON_ARGS}}`;
const OTHER = '{"name": "read_text_file", "arguments": {"path": "notes/bus.md"}}';
const AS_TEXT = JSON.stringify(JSON_ARGS);
const XML = "<function=read_text_file>\n<parameter=path>\nnotes/rail.md\n</parameter>\n</function>";

/** Calls in JSON, behind the tag of Hermes and Qwen and without it. */
export const READ_REPLIES: readonly ReadReply[] = [
  { what: "a tag", reply: `<tool_call>\n${NATIVE}\n</tool_call>` },
  {
    what: "arguments first",
    reply: `<tool_call>{"arguments": ${JSON_ARGS}, "name": "read_text_file"}</tool_call>`,
  },
  {
    what: "arguments as JSON text",
    reply: `<tool_call>\n{"name": "read_text_file", "arguments": ${AS_TEXT}}\n</tool_call>`,
  },
  {
    what: "thinking before it",
    reply: `<think>\nThe user names rail.md.\n</think>\n\n<tool_call>\n${NATIVE}\n</tool_call><|im_end|>`,
  },
  {
    what: "two calls",
    reply: `<tool_call>\n${NATIVE}\n</tool_call>\n<tool_call>\n${OTHER}\n</tool_call>`,
    trailing: `<tool_call>\n${OTHER}\n</tool_call>`,
  },
  {
    what: "words behind it",
    reply: `<tool_call>${NATIVE}</tool_call>\nI will wait for the result.`,
    trailing: "I will wait for the result.",
  },
  { what: "no end tag", reply: `<tool_call>\n${NATIVE}` },
  { what: "a fence inside", reply: `<tool_call>\n\`\`\`json\n${NATIVE}\n\`\`\`\n</tool_call>` },
  {
    what: "another tool",
    reply: `<tool_call>{"name": "run_shell", "arguments": {"command": "ls"}}</tool_call>`,
    name: "run_shell",
    args: { command: "ls" },
  },
  {
    what: "a fence, and arguments as JSON text",
    reply: `\`\`\`json\n{"name": "read_text_file", "arguments": ${AS_TEXT}}\n\`\`\``,
  },
  { what: "a fence of Gemma's", reply: `\`\`\`tool_code\n${NATIVE}\n\`\`\`` },
  { what: "a tool and its args", reply: `{"tool": "read_text_file", "args": ${JSON_ARGS}}` },
];

/** Calls in dialects that are not read, as templates of models and the parsers of hosts show them. */
export const DIALECT_REPLIES: readonly (readonly [what: string, reply: string])[] = [
  [
    "OpenAI: its own shape in words",
    `{"type": "function", "function": {"name": "read_text_file", "arguments": ${AS_TEXT}}}`,
  ],
  ["xLAM: a list", `[${NATIVE}]`],
  ["xLAM: a list of two", `[${NATIVE}, ${OTHER}]`],
  ["Mistral: name and arguments", `[TOOL_CALLS]read_text_file[ARGS]${JSON_ARGS}`],
  ["Mistral: its marks half gone", `[TOOL_CALLS]read_text_file${JSON_ARGS}`],
  [
    "Mistral: a list",
    `[TOOL_CALLS] [{"name": "read_text_file", "arguments": ${JSON_ARGS}, "id": "a1B2c3D4e"}]`,
  ],
  [
    "Mistral: thinking before it",
    `[THINK]Which file? rail.md.[/THINK][TOOL_CALLS]read_text_file[ARGS]${JSON_ARGS}`,
  ],
  ["Mistral: another tool", `[TOOL_CALLS]web_search[ARGS]{"query": "trains"}`],
  ["Llama: a function tag", `<function=read_text_file>${JSON_ARGS}</function>`],
  ["Llama: a function tag of another tool", `<function=list_files>{"folder": "notes"}</function>`],
  [
    "Llama: a python tag and JSON",
    `<|python_tag|>{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|eom_id|>`,
  ],
  [
    "Llama: a python tag and a type",
    `<|python_tag|>{"type": "function", "name": "read_text_file", "parameters": ${JSON_ARGS}}`,
  ],
  [
    "Llama: a python tag and a method",
    `<|python_tag|>read_text_file.call(path="notes/rail.md")<|eom_id|>`,
  ],
  ["Llama: JSON without a tag", `{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|eot_id|>`],
  [
    "Llama: version 4",
    `<|python_start|>[read_text_file(path="notes/rail.md")]<|python_end|><|eot|>`,
  ],
  ["Llama: a list of calls", `[read_text_file(path="notes/rail.md"), read_text_file(path="b.md")]`],
  ["Qwen3-Coder: a tag", `<tool_call>\n${XML}\n</tool_call>`],
  ["Qwen3-Coder: without the outer tag", `${XML}\n</tool_call>`],
  [
    "Qwen3-Coder: a parameter that nothing closes",
    "<tool_call>\n<function=read_text_file>\n<parameter=path>\nnotes/rail.md\n</function>\n</tool_call>",
  ],
  [
    "Qwen3-Coder: two parameters",
    "<tool_call>\n<function=grep>\n<parameter=pattern>\na < b\n</parameter>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Seed-OSS: its own tag",
    `<seed:think>rail.md.</seed:think><seed:tool_call>\n<function=read_text_file>\n<parameter=path>notes/rail.md</parameter>\n</function>\n</seed:tool_call>`,
  ],
  [
    "MiniMax: invoke",
    `<minimax:tool_call>\n<invoke name="read_text_file">\n<parameter name="path">notes/rail.md</parameter>\n</invoke>\n</minimax:tool_call>`,
  ],
  [
    "Claude's: function_calls",
    `<function_calls>\n<invoke name="read_text_file">\n<parameter name="path">notes/rail.md</parameter>\n</invoke>\n</function_calls>`,
  ],
  [
    "Claude's: invoke alone",
    `<invoke name="read_text_file"><parameter name="path">notes/rail.md</parameter></invoke>`,
  ],
  [
    "GLM: pairs",
    "<tool_call>read_text_file\n<arg_key>path</arg_key>\n<arg_value>notes/rail.md</arg_value>\n</tool_call>",
  ],
  [
    "GLM: pairs on one line",
    "<think></think><tool_call>read_text_file<arg_key>path</arg_key><arg_value>notes/rail.md</arg_value></tool_call><|observation|>",
  ],
  ["GLM: version 4", `read_text_file\n${JSON_ARGS}`],
  ["Functionary: a name and JSON", `>>>read_text_file\n${JSON_ARGS}`],
  [
    "gpt-oss: a message to the tool",
    `<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ],
  [
    "gpt-oss: thinking before it",
    `<|channel|>analysis<|message|>Need rail.md.<|end|><|start|>assistant<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ],
  [
    "gpt-oss: the tool in the role",
    `<|start|>assistant to=functions.read_text_file<|channel|>commentary json<|message|>${JSON_ARGS}<|call|>`,
  ],
  [
    "gpt-oss: without special tokens",
    `assistantcommentary to=functions.read_text_file json${JSON_ARGS}`,
  ],
  ["gpt-oss: without a channel", `to=functions.read_text_file code ${JSON_ARGS}`],
  [
    "gpt-oss: a word to the user before it",
    `<|channel|>commentary<|message|>I will read the note.<|end|><|start|>assistant<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ],
  [
    "gpt-oss: another tool",
    `<|channel|>commentary to=functions.list_files<|message|>{"folder": "."}<|call|>`,
  ],
  ["Gemma: tool_code", '```tool_code\nread_text_file(path="notes/rail.md")\n```'],
  [
    "Gemma: tool_code, printed",
    '```tool_code\nprint(read_text_file(path="notes/rail.md"))\n```<end_of_turn>',
  ],
  [
    "Gemma: tool_code, of a module",
    "```tool_code\nprint(default_api.read_text_file(path='notes/rail.md'))\n```",
  ],
  ["Gemma: tool_code, without a name", '```tool_code\nread_text_file("notes/rail.md")\n```'],
  [
    "Gemma: tool_code, another tool",
    '```tool_code\nlist_files(folder="notes", depth=2, hidden=False)\n```',
  ],
  [
    "Gemma 4: its own tag",
    '<|tool_call>call:read_text_file{path:<|"|>notes/rail.md<|"|>}<tool_call|>',
  ],
  [
    "FunctionGemma: escapes",
    "<start_function_call>call:read_text_file{path:<escape>notes/rail.md<escape>}<end_function_call><start_function_response>",
  ],
  ["Python: a list of one", '[read_text_file(path="notes/rail.md")]'],
  ["Python: single quotes and a comma at the end", "[read_text_file(path='notes/rail.md',)]"],
  ["Python: a line", 'read_text_file(path="notes/rail.md")'],
  ["Python: a line in a fence", '```python\nread_text_file(path="notes/rail.md")\n```'],
  ["Python: another tool, and nothing else", "[list_files(folder='notes', only=['md', 'txt'])]"],
  [
    "LFM2: its tag",
    '<|tool_call_start|>[read_text_file(path="notes/rail.md")]<|tool_call_end|>Reading it.',
  ],
  [
    "MiniCPM: its tag and a fence",
    '<|tool_call_start|>\n```python\nread_text_file(path="notes/rail.md")\n```\n<|tool_call_end|>',
  ],
  [
    "OLMo: function_calls",
    '<function_calls>\nread_text_file(path="notes/rail.md")\n</function_calls>',
  ],
  [
    "DeepSeek: V3 and R1",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_text_file\n\`\`\`json\n${JSON_ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
  ],
  [
    "DeepSeek: R1, thinking before it",
    `<think>\nrail.md, then.\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_text_file\n\`\`\`json\n${JSON_ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    "DeepSeek: V3.1",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_text_file<｜tool▁sep｜>${JSON_ARGS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    "DeepSeek: V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_text_file">\n<｜DSML｜parameter name="path" string="true">notes/rail.md</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ],
  [
    "Kimi: a section",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_text_file:0<|tool_call_argument_begin|>${JSON_ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
  ],
  [
    "Step: invoke in a section",
    '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="read_text_file"><steptml:parameter name="path">notes/rail.md</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>',
  ],
  ["Granite: a list behind a mark", `<|tool_call|>[${NATIVE}]`],
  ["Granite: a list in a tag", `<tool_call>[${NATIVE}]</tool_call>`],
  ["Granite: function_call", `<function_call> ${NATIVE}`],
  [
    "Phi: a mark at both ends",
    `<|tool_call|>[{"name": "read_text_file", "parameters": ${JSON_ARGS}}]<|/tool_call|>`,
  ],
  ["Phi: functools", `functools[{"name": "read_text_file", "arguments": ${JSON_ARGS}}]`],
  ["Jamba: tool_calls", `<tool_calls>[\n  ${NATIVE}\n]</tool_calls>`],
  ["Nemotron: TOOLCALL", `<TOOLCALL>[${NATIVE}]</TOOLCALL>`],
  ["LongCat: its own tag", `<longcat_tool_call>\n${NATIVE}\n</longcat_tool_call>`],
  [
    "Apertus: a name as a key",
    `<|tools_prefix|>[{"read_text_file": ${JSON_ARGS}}]<|tools_suffix|>`,
  ],
  [
    "InternLM: an action",
    `<|action_start|><|plugin|>\n{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|action_end|>`,
  ],
  [
    "Command-R: an action in a fence",
    `Action: \`\`\`json\n[\n    {\n        "tool_name": "read_text_file",\n        "parameters": ${JSON_ARGS}\n    }\n]\n\`\`\``,
  ],
  [
    "Command-R: version 7B and A",
    `<|START_THINKING|>I will read rail.md.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "read_text_file", "parameters": ${JSON_ARGS}}\n]<|END_ACTION|>`,
  ],
  [
    "ReAct: an action and its input",
    `Action: read_text_file\nAction Input: ${JSON_ARGS}\nObservation:`,
  ],
];

/** Answers, some of them about calls, that hold none. */
export const NO_CALLS: readonly string[] = [
  "The rail line opened in 1998 [1].",
  "Qwen puts a call between <tool_call> and </tool_call> [1].",
  "Hermes models wrap calls in `<tool_call>` tags [1].",
  "The mark <tool_call> [1] comes first.",
  "Mistral writes [TOOL_CALLS] before the list [1].",
  "Mistral writes [TOOL_CALLS] first[1].",
  "After [TOOL_CALLS] comes the name, then [ARGS] [2].",
  "Llama 3.1 marks code with <|python_tag|> and ends it with <|eom_id|> [1].",
  "Its tokens are <|python_tag|> <|eom_id|> <|eot_id|> [1].",
  "A <function=…> tag names the tool [1].",
  "`<function=NAME>` opens a call, `</function>` ends it [1].",
  "DeepSeek begins with <｜tool▁calls▁begin｜> and ends with <｜tool▁calls▁end｜> [1].",
  "A call opens with <｜tool▁calls▁begin｜><｜tool▁call▁begin｜> [1].",
  "Kimi begins with <|tool_calls_section_begin|> [2].",
  "gpt-oss addresses a tool with to=functions.NAME in the commentary channel [1].",
  "In harmony, `to=functions.get_weather` stands in the header [1].",
  "Gemma writes its calls in a fence of the language tool_code [1].",
  "The tool read_text_file(path) reads a file [1].",
  'Write `read_text_file(path="a.md")` to read a.md [1].',
  'The note says that read_text_file(path="a.md") was called twice [1].',
  "Action: close the valve. Action Input: none [1].",
  "Action: Smith(2020) is cited [1].",
  "Action: the board approved the budget [1].",
  "The functools module has `reduce` and `partial` [1].",
  "from functools import partial\n\nIt is used for callbacks [1].",
  "functools.reduce(add, [1, 2]) gives 3 [1].",
  'The example is:\n```python\nprint(greet(name="Ann"))\n```\nIt prints a greeting [1].',
  'It is set up with:\n```python\nconnect(host="db", port=5432)\n```\n[1]',
  'client.get(url="https://example.org", timeout=5) is the call in the script [2].',
  '["rail.md", "bus.md"] are the two notes [1].',
  "[rail.md](notes/rail.md) holds the timetable [1].",
  "[see(page=4)] is the reference of the note [1].",
  "[1] and [2] say that the depot opened in 1998.",
  "[x] done\n[ ] open\nBoth lists are in the note [1].",
  '{"name": "rail", "arguments": {"speed": 3}} is the sample record [1].',
  '{"answer": "Every 20 minutes", "cites": [1]}',
  '```json\n{"host": "db", "port": 5432}\n```\nis the configuration [1].',
  "The file holds <plugin>\n<groupId>org</groupId> [1].",
  "<invoke> is an element of the form language [1].",
  '<parameter name="path"> sets the folder in the XML file [1].',
  "The function_call field is deprecated [1].",
  "call:ambulance is the label of the first button [1].",
  "The tool_calls table has a row for each call [1].",
  "<b>Rail</b>: every 20 minutes [1].",
  "In TypeScript: `function read<T>(path: string): T` [1].",
  "if (read_text_file) { close(); } is in the listing [1].",
];
