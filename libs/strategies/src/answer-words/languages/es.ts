import type { AnswerWords } from '../answer-words.js';

export const es: AnswerWords = {
  sources: 'Fuentes:',
  unsupported: 'No figura en la fuente citada:',
  noSuchSource: 'esa fuente no existe',
  notCovered: 'Sin responder:',
  undone: 'Sin confirmar que se haya hecho:',
  notMade: 'No realizado:',
  nothingFound: 'no se encontró nada',
  researchFailed: 'la búsqueda falló',
  found: 'Lo encontrado hasta ahora:',
  stillOpen: 'Queda por aclarar:',
  whyStopped: 'Por qué se detuvo:',
  unconfirmed: 'Ningún paso lo ha confirmado.',
  notReviewed: 'Esta respuesta trata un tema que exigía una revisión; no se revisó.',
  verdictUnread: 'Esta respuesta se sometió a una revisión cuyo veredicto no se pudo leer.',
  unsourced: {
    no_calls_left: 'No se consultó nada ni se llamó a ninguna herramienta, porque el presupuesto no dejaba ninguna llamada para ello.',
    no_plan: 'No se consultó nada ni se llamó a ninguna herramienta, porque no se pudo hacer ningún plan.',
    nothing_asked: 'No se consultó nada ni se llamó a ninguna herramienta.',
    all_failed: 'Las consultas o llamadas hechas para esta respuesta fallaron.',
    nothing_found: 'No se encontró nada sobre esto en lo que se consultó.',
  },
  ownKnowledge: ' Esta respuesta se basa en lo que sabe el propio modelo.',
};
