/** Something left out of a request, or expressed differently, because a server refused it. */
export type Concession =
  | 'no stream'
  | 'no usage option'
  | 'max_completion_tokens'
  | 'no response_format'
  | 'json_object for a wished json_schema'
  | 'no wished response_format'
  | 'no temperature'
  | 'no top_p'
  | 'no seed'
  | 'no stop'
  | 'one system message'
  | 'no system message'
  | 'turns that alternate'
  | 'no earlier thinking'
  | 'a reply after results'
  | 'short ids of calls'
  | 'no files of tools'
  | 'no signatures of calls'
  | 'placeholders for missing signatures'
  | 'placeholders for signatures'
  | 'no parallel_tool_calls';

export type Concessions = ReadonlySet<Concession>;
