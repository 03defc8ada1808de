/** "None" in the languages that models answer in, alone or in a short phrase ("No hay ninguna", "il n'y en a pas"). */
const none = new RegExp(
  '^(?:' +
    [
      'none|no|nil|null|nothing|n/a|not applicable|-|–|—',
      'keine?[rs]?|nichts|ningun[oa]s?|nada|aucune?s?|néant|rien|nessun[oa]?|niente|nenhuma?|geen|niets|brak|żadne?|ingen|inga|inget|intet|ei(?: ole)?|ei mitään',
      'žádn[éáý]|nic|nincs|niciun(?:ul|a)?|nimic|yok|hiçbiri|không(?: có)?|tidak ada|nihil|нет|ничего|немає|нема|няма|κανένας?|καμία|τίποτα|لا يوجد|لا شيء|אין|कोई नहीं|ไม่มี',
      '无|無|没有|沒有|なし|無し|ない|없음|없습니다',
    ].join('|') +
    ')?$',
  'iu',
);
const denied =
  /^(?:no hay|no tengo|não há|não tenho|non ci sono|il n['’]y (?:en )?a(?: pas| aucune?)?|there (?:is|are) no)(?: [\p{L}’']+){0,3}$/iu;

/** Whether a value says that there is nothing: it is empty, or "none" in one of many languages. */
export function saysNone(value: string): boolean {
  const said = value.trim().replace(/(?<![.。!])[.。!]+$/u, '');
  return none.test(said) || denied.test(said);
}
