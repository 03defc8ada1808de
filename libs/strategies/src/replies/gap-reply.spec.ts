import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readGap } from './gap-reply.js';

const gap = "the year of A's birth";
const focus = 'When was A born?';
const open = { verdict: 'needs_more_info', gap, nextFocus: focus, parsed: true };
const fields = { COMPLETION_STATUS: 'NEEDS_MORE_INFO', GAP: gap, NEXT_FOCUS: focus };
const plain = `COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: ${gap}\nNEXT_FOCUS: ${focus}`;

describe('a gap that is named', () => {
  it.each([
    ['the asked format', plain],
    ['numbers', `1. COMPLETION_STATUS: NEEDS_MORE_INFO\n2. GAP: ${gap}\n3. NEXT_FOCUS: ${focus}`],
    ['numbers in brackets', `(1) **COMPLETION_STATUS:** NEEDS_MORE_INFO\n(2) **GAP:** ${gap}\n(3) **NEXT_FOCUS:** ${focus}`],
    ['one line', `COMPLETION_STATUS: NEEDS_MORE_INFO GAP: ${gap} NEXT_FOCUS: ${focus}`],
    ['one line with numbers', `1. COMPLETION_STATUS: NEEDS_MORE_INFO 2. GAP: ${gap} 3. NEXT_FOCUS: ${focus}`],
    ['one line with bars', `COMPLETION_STATUS: NEEDS_MORE_INFO | GAP: ${gap} | NEXT_FOCUS: ${focus}`],
    ['one line with commas and equals', `COMPLETION_STATUS=NEEDS_MORE_INFO, GAP="${gap}", NEXT_FOCUS="${focus}"`],
    ['JSON', JSON.stringify(fields)],
    ['fenced JSON after a preamble', `Here is my assessment:\n\`\`\`json\n${JSON.stringify(fields, null, 2)}\n\`\`\`\nDone.`],
    ['JSON in camel case', JSON.stringify({ completionStatus: 'needs_more_info', gap, nextFocus: focus })],
    ['nested JSON', JSON.stringify({ assessment: { status: 'incomplete', gaps: [gap], next_focus: focus } })],
    ['JSON with a boolean', JSON.stringify({ complete: false, gap, next_focus: focus })],
    ['a list of objects', JSON.stringify([{ completion_status: 'NEEDS MORE INFO' }, { gap }, { next_focus: focus }])],
    ['single quotes', `{'completion_status': 'NEEDS_MORE_INFO', 'gap': "${gap}", 'next_focus': '${focus}'}`],
    ['JSON that was cut off', `{"COMPLETION_STATUS": "NEEDS_MORE_INFO", "GAP": "${gap}", "NEXT_FOCUS": "${focus}"`],
    ['YAML', `completion_status: NEEDS_MORE_INFO\ngap: >\n  ${gap}\nnext_focus: |\n  ${focus}\n`],
    ['YAML with a list', `---\ncompletion_status: needs-more-info\ngap:\n  - ${gap}\nnext_focus: "${focus}"\n`],
    [
      'a table of rows',
      `| Field | Value |\n|---|---|\n| COMPLETION_STATUS | NEEDS_MORE_INFO |\n| GAP | ${gap} |\n| NEXT_FOCUS | ${focus} |`,
    ],
    ['a table of columns', `| COMPLETION_STATUS | GAP | NEXT_FOCUS |\n|:---|:---:|---|\n| NEEDS_MORE_INFO | ${gap} | ${focus} |`],
    ['comma separated values', `completion_status,gap,next_focus\nNEEDS_MORE_INFO,"${gap}","${focus}"`],
    ['tags', `<COMPLETION_STATUS>NEEDS_MORE_INFO</COMPLETION_STATUS><GAP>${gap}</GAP><NEXT_FOCUS>${focus}</NEXT_FOCUS>`],
    [
      'tags on lines',
      `<assessment>\n  <completion_status>INCOMPLETE</completion_status>\n  <gap>${gap}</gap>\n  <next_focus>${focus}</next_focus>\n</assessment>`,
    ],
    ['attributes', `<assessment completion_status="NEEDS_MORE_INFO" gap="${gap}" next_focus="${focus}"/>`],
    ['headings', `## Completion Status\nNEEDS_MORE_INFO\n\n## Gap\n${gap}\n\n## Next Focus\n${focus}`],
    ['bold names and bullets', `- **Completion_Status**: Needs_More_Info\n- **Gap**: ${gap}\n- **Next_Focus**: ${focus}`],
    ['another order', `NEXT_FOCUS: ${focus}\nGAP: ${gap}\nCOMPLETION_STATUS: NEEDS_MORE_INFO`],
    ['full-width signs', `COMPLETION＿STATUS：NEEDS_MORE_INFO\nGAP：${gap}\nNEXT_FOCUS：${focus}`],
    ['brackets of another script', `【COMPLETION_STATUS】：「NEEDS_MORE_INFO」\n【GAP】：「${gap}」\n【NEXT_FOCUS】：「${focus}」`],
    ['arrows', `COMPLETION_STATUS -> NEEDS_MORE_INFO\nGAP → ${gap}\nNEXT_FOCUS => ${focus}`],
    ['dashes', `COMPLETION_STATUS – NEEDS_MORE_INFO\nGAP - ${gap}\nNEXT_FOCUS — ${focus}`],
    ['escaped underscores', `COMPLETION\\_STATUS: NEEDS\\_MORE\\_INFO\nGAP: ${gap}\nNEXT\\_FOCUS: ${focus}`],
    ['thinking first', `<think>It is COMPLETE, I guess.\nCOMPLETION_STATUS: COMPLETE\nGAP: none</think>\n${plain}`],
    ['thinking whose beginning was cut off', `COMPLETION_STATUS: COMPLETE\nGAP: none\n</think>\n\n${plain}`],
    [
      'the format repeated first',
      `COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO\nGAP: <what specific fact/calculation/document is still missing, or "none">\nNEXT_FOCUS: <one concrete question/action for the next iteration>\n\n${plain}`,
    ],
    ['sentences', `The completion status is NEEDS_MORE_INFO. The gap is: ${gap}\nThe next focus is: ${focus}`],
    ['emoji', `❌ COMPLETION_STATUS: NEEDS_MORE_INFO\n🔎 GAP: ${gap}\n➡️ NEXT_FOCUS: ${focus}`],
    ['special tokens', `${plain}<|im_end|>`],
    ['an explanation behind it', `${plain}\n\nTo complete the answer, the year has to be looked up.`],
    ['small names', `status: incomplete\nmissing: ${gap}\nnext question: ${focus}`],
    ['brackets around each', `(COMPLETION_STATUS: NEEDS_MORE_INFO) (GAP: ${gap}) (NEXT_FOCUS: ${focus})`],
    ['tabs', `COMPLETION_STATUS\tNEEDS_MORE_INFO\nGAP\t${gap}\nNEXT_FOCUS\t${focus}`],
    ['blanks alone', `COMPLETION_STATUS NEEDS_MORE_INFO\nGAP ${gap}\nNEXT_FOCUS ${focus}`],
    ['letters', `a) COMPLETION_STATUS: NEEDS_MORE_INFO\nb) GAP: ${gap}\nc) NEXT_FOCUS: ${focus}`],
    ['Roman numbers', `i. COMPLETION_STATUS: NEEDS_MORE_INFO\nii. GAP: ${gap}\niii. NEXT_FOCUS: ${focus}`],
    [
      'a call of a tool',
      JSON.stringify({ name: 'assess', arguments: JSON.stringify({ completion_status: 'NEEDS_MORE_INFO', gap, next_focus: focus }) }),
    ],
    ['members with members', JSON.stringify({ COMPLETION_STATUS: 'NEEDS_MORE_INFO', GAP: { fact: gap }, NEXT_FOCUS: { question: focus } })],
    ['pairs of keys and values', JSON.stringify(Object.entries(fields).map(([key, value]) => ({ key, value })))],
    [
      'a drawn table',
      `+---+---+\n| COMPLETION_STATUS | NEEDS_MORE_INFO |\n+---+---+\n| GAP | ${gap} |\n+---+---+\n| NEXT_FOCUS | ${focus} |\n+---+---+`,
    ],
    ['a sentence in place of the status', `The answer is INCOMPLETE.\nGAP: ${gap}\nNEXT_FOCUS: ${focus}`],
    ['no status at all', `GAP: ${gap}\nNEXT_FOCUS: ${focus}`],
    ['the gap behind the status', `COMPLETION_STATUS: NEEDS_MORE_INFO: ${gap}\nNEXT_FOCUS: ${focus}`],
    [
      'an HTML table',
      `<table><tr><td>COMPLETION_STATUS</td><td>NEEDS_MORE_INFO</td></tr><tr><td>GAP</td><td>${gap}</td></tr><tr><td>NEXT_FOCUS</td><td>${focus}</td></tr></table>`,
    ],
  ])('is read from %s', (_form, reply) => {
    expect(readGap(reply)).toEqual(open);
  });

  it.each([
    'NEEDS_MORE_INFO',
    'needs_more_info',
    'needs-more-info',
    'NEEDS MORE INFO',
    'Needs more information',
    'INCOMPLETE',
    'Incomplete.',
    'NOT COMPLETE',
    'not yet complete',
    '"NEEDS_MORE_INFO"',
    '[NEEDS_MORE_INFO]',
    '`NEEDS_MORE_INFO`',
    '**NEEDS_MORE_INFO**',
    '<NEEDS_MORE_INFO>',
    'NEED_MORE_INFO',
    'NeedsMoreInfo',
    'partially complete',
    'insufficient',
    'UNVOLLSTÄNDIG',
    'false',
    'no',
    'NEEDS_MORE_INFO (not COMPLETE)',
    'NEEDS_MORE_INFO - to complete the answer a date is needed',
    'INCOMPLETE, although nearly done',
    '[ ] COMPLETE [x] NEEDS_MORE_INFO',
    '☐ COMPLETE ☑ NEEDS_MORE_INFO',
    '~~COMPLETE~~ NEEDS_MORE_INFO',
    'It needs more info',
    'still incomplete',
  ])('is read with the status %s', (status) => {
    expect(readGap(`COMPLETION_STATUS: ${status}\nGAP: ${gap}\nNEXT_FOCUS: ${focus}`)).toEqual(open);
  });

  it.each([
    ['None of the sources names the year', 'None of the sources names the year'],
    ['No date of birth is given', 'No date of birth is given'],
    ['Nothing about the year was found', 'Nothing about the year was found'],
    ['§ 3 of chapter 3.', '§ 3 of chapter 3.'],
    ['m² of the floor', 'm² of the floor'],
  ])('may begin with a no: %s', (said, read) => {
    expect(readGap(`COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: ${said}\nNEXT_FOCUS: x`)).toMatchObject({
      verdict: 'needs_more_info',
      gap: read,
    });
  });

  it('may be several', () => {
    expect(readGap('COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP:\n- the year\n- the place\nNEXT_FOCUS: both')).toMatchObject({
      gap: 'the year; the place',
    });
  });

  it('is read without a name of the status', () => {
    expect(readGap(`NEEDS_MORE_INFO: ${gap}`)).toEqual({ ...open, nextFocus: gap });
    expect(readGap(`**NEEDS_MORE_INFO**\nGAP: ${gap}\nNEXT_FOCUS: ${focus}`)).toEqual(open);
  });

  it('is the next focus if no gap is named', () => {
    expect(readGap(`COMPLETION_STATUS: NEEDS_MORE_INFO\nNEXT_FOCUS: ${focus}`)).toEqual({ ...open, gap: focus });
  });

  it('is the same in every combination of order, separator, decoration and case', () => {
    const decorate = fc.constantFrom(
      (name: string) => name,
      (name: string) => `**${name}**`,
      (name: string) => `"${name}"`,
      (name: string) => `- ${name}`,
      (name: string) => `> ${name}`,
      (name: string) => `\`${name}\``,
    );
    const cased = fc.constantFrom(
      (name: string) => name,
      (name: string) => name.toLowerCase(),
      (name: string) => name.replaceAll('_', ' '),
      (name: string) => name.replaceAll('_', '-'),
    );
    const wrapped = fc.constantFrom(
      (text: string) => text,
      (text: string) => `"${text}"`,
      (text: string) => `**${text}**`,
      (text: string) => ` ${text}  `,
    );
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.entries(fields), { minLength: 3 }),
        decorate,
        cased,
        wrapped,
        fc.constantFrom(':', ' :', '=', ' = ', ': ', '：'),
        fc.constantFrom('\n', '\n\n', '\r\n'),
        (order, decorated, inCase, wrap, sign, lines) => {
          expect(readGap(order.map(([name, value]) => `${decorated(inCase(name))}${sign}${wrap(value)}`).join(lines))).toEqual(open);
        },
      ),
    );
  });
});

describe('a verdict that nothing is missing', () => {
  it.each([
    'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none',
    'COMPLETE',
    '**COMPLETE**',
    '{"completion_status":"COMPLETE","gap":null,"next_focus":null}',
    '{"complete":true,"gap":"none"}',
    "{'completion_status': 'COMPLETE', 'gap': 'none', 'next_focus': 'none'}",
    '1. COMPLETION_STATUS: COMPLETE 2. GAP: none 3. NEXT_FOCUS: none',
    'COMPLETION_STATUS: [x] COMPLETE [ ] NEEDS_MORE_INFO\nGAP: none',
    'completion_status: complete\ngap: []\nnext_focus: ~',
    'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: none\n\nNote: the gap of 1912 to 1914 is explained in the answer.',
    '| COMPLETION_STATUS | COMPLETE |\n|---|---|\n| GAP | none |\n| NEXT_FOCUS | - |',
    '<COMPLETION_STATUS>COMPLETE</COMPLETION_STATUS>\n<GAP>none</GAP>',
    'COMPLETION_STATUS: COMPLETE\nGAP: None. The answer covers all parts.\nNEXT_FOCUS: N/A',
    'COMPLETION_STATUS: COMPLETE\nGAP: No further information is needed',
    'COMPLETION_STATUS: COMPLETE\nGAP: nothing is missing',
    'COMPLETION_STATUS: COMPLETE (no more info needed)\nGAP: -',
    'COMPLETION_STATUS: COMPLETED.\nGAP: <what specific fact/calculation/document is still missing, or "none">',
    'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: none\nNEXT_FOCUS: x',
    'COMPLETION_STATUS: COMPLETE\nGAP: none\nNEXT_FOCUS: Ask about the price next.',
  ])('is read from %j', (reply) => {
    expect(readGap(reply)).toEqual({ verdict: 'complete', gap: '', nextFocus: '', parsed: true });
  });
});

describe('a reply without a verdict', () => {
  it.each([
    ['the repeated format', 'COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO\nGAP: x\nNEXT_FOCUS: y'],
    [
      'the repeated format with its placeholders',
      'COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO\nGAP: <what specific fact/calculation/document is still missing, or "none">\nNEXT_FOCUS: <one concrete question/action for the next iteration>',
    ],
    ['the repeated format with a slash', 'COMPLETION_STATUS: COMPLETE/NEEDS_MORE_INFO'],
    ['the repeated format in words', 'COMPLETION_STATUS: COMPLETE or NEEDS_MORE_INFO'],
    ['the repeated format as JSON', '{"COMPLETION_STATUS":"COMPLETE | NEEDS_MORE_INFO","GAP":"none"}'],
    ['prose', 'The answer looks good to me.'],
    ['prose that only uses the words', 'We can complete this once more information arrives, but the status of that is unknown.'],
    ['nothing', ''],
    ['only thinking', '<think>COMPLETION_STATUS: COMPLETE\nGAP: none'],
    ['a gap that the words around it contradict', 'Everything is COMPLETE.\nGAP: the answer names all of it'],
    ['a status of its own', 'COMPLETION_STATUS: MAYBE\nGAP: none'],
    ['COMPLETE beside a gap', `COMPLETION_STATUS: COMPLETE\nGAP: ${gap}\nNEXT_FOCUS: ${focus}`],
    ['more being needed of nothing', 'COMPLETION_STATUS: NEEDS_MORE_INFO'],
    [
      'more being needed, with the placeholder as the gap',
      'COMPLETION_STATUS: NEEDS_MORE_INFO\nGAP: <what specific fact/calculation/document is still missing, or "none">',
    ],
  ])('does not count as an assessment: %s', (_what, reply) => {
    expect(readGap(reply)).toEqual({ verdict: 'complete', gap: '', nextFocus: '', parsed: false });
  });

  it('is read at once, however long it is', () => {
    const before = process.cpuUsage();
    for (const part of ['| a | b ', 'GAP ', 'status\n', '<think>', '```', '1. ', '"', 'NEEDS MORE ', '**', '\n', '('])
      readGap(part.repeat(40_000));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
