import words from '../assets/safety-signs.json' with { type: 'json' };
import { anyOf, inOneSentence, phrases } from './phrases.js';

/**
 * Stems of names of active substances (International Nonproprietary Names), with their English and German endings: they recognise medicines
 * that no list here contains.
 */
const substance = anyOf(`(?<!\\p{L})\\p{L}{3,}(?:${words.substance.join('|')})(?:e|um|s)?(?!\\p{L})`);

const amount =
  "(?:how (?:much|many|often|long|high)|what(?: is| are|'s)? (?:the|a) (?:maximum|max|right|safe|correct|recommended|usual|highest|daily|lethal)|maximum|at most|too much|wie ?viele?|wie oft|wie lange|wie hoch|höchst\\p{L}*|maximal\\p{L}*|zu viel|tages\\p{L}+|einzeldosis)";
const intake =
  '(?:take|takes|taking|taken|give|giving|swallow|inject|drink|eat|dose|dosage|nehmen|nimmt|einnehmen|einnimmt|genommen|geben|gibt|schlucken|spritzen|trinken|essen|verabreich\\p{L}*|dosier\\p{L}*|dosis)';
const living =
  '(?:adults?|child|children|kids?|toddlers?|bab(?:y|ies)|infants?|newborns?|teen\\p{L}*|\\d+[ -]?(?:year|month|week)s?[ -]?olds?|pregnan\\p{L}*|breastfeed\\p{L}*|patients?|dogs?|cats?|my (?:son|daughter|mother|father|wife|husband|mum|mom|dad|grand\\p{L}+)|\\d+ ?(?:kg|kilos?|pounds|lbs?)|erwachsene[rn]?|kind(?:er|ern|es)?|kleinkind\\p{L}*|bab(?:y|ys)|säugling\\p{L}*|jugendliche\\p{L}*|\\d+[ -]?jährige[rnms]?|schwangere\\p{L}*|stillende?|hund\\p{L}*|katzen?|(?:mein|unser)e?n? (?:sohn|tochter|mutter|vater|frau|mann|oma|opa))';
/** Amount, intake and recipient of a dose, in any order within one sentence. */
const dose = inOneSentence(amount, intake, living);
/** A body part with its complaint. */
const bodyPart =
  '(?:head|eyes?|ears?|nose|mouth|tongue|throat|neck|chest|heart|breasts?|stomach|belly|back|arms?|hands?|fingers?|legs?|feet|foot|toes?|knees?|hips?|skin|lips?|face|kopf|augen?|ohr(?:en)?|nase|mund|zunge|hals|nacken|brust|herz|magen|bauch|rücken|arme?|hände?|hand|finger|beine?|füße?|fuß|zehen?|knie|hüfte|haut|lippen?|gesicht)';
const ailing =
  '(?:numb|tingl\\p{L}*|swollen|swelling|burn(?:s|ing|t)|itch\\p{L}*|bleed\\p{L}*|blister\\p{L}*|lumps?|sore|stiff|cramp\\p{L}*|paraly\\p{L}*|droop\\p{L}*|racing|infected|broken|yellow|blue|taub|kribbel\\p{L}*|geschwollen|schwellung|brenn\\p{L}*|juck\\p{L}*|blut\\p{L}*|blase[n]?|knoten|wund|steif|krampf\\p{L}*|gelähmt|rast|entzünde\\p{L}*|gebrochen|gelb|blau)';
const symptom = anyOf(
  `(?<!\\p{L})(?:${bodyPart}(?!\\p{L})[^.!?]{0,40}(?<!\\p{L})${ailing}|${ailing}(?!\\p{L})[^.!?]{0,30}(?<!\\p{L})${bodyPart})(?!\\p{L})`,
);

/** Endings of names of diseases and operations, for those that no list here contains. */
const disease = anyOf(`(?<!\\p{L})\\p{L}*(?:${words.diseaseEndings.join('|')})(?!\\p{L})`);
/** Organs, and what people who worry about theirs say. */
const organ =
  '(?:uterus|ovar\\p{L}+|cervi\\p{L}+|vagin\\p{L}+|penis|testic\\p{L}+|scrotum|foreskin|prostate|bladder|kidneys?|liver|pancrea\\p{L}+|spleen|gall ?(?:bladder|stones?)|tonsils?|intestin\\p{L}+|bowels?|rect(?:al|um)|anus|abdom\\p{L}+|pelvi\\p{L}+|groin|spin(?:e|al)|nerves?|veins?|arter(?:y|ies)|nipples?|breasts?|urine|stools?|lungs?|gums?|tooth|teeth|muscles?|bones?|ribs?|jaw|wrists?|ankles?|elbows?|shoulders?|hips?|knees?|throat|chest|stomach|belly|skin|scalp|eyes?|ears?|nose|tongue|lips?|head|gebärmutter|eierst\\p{L}+|scheide|hoden|prostata|blase|nieren?|leber|bauchspeicheldrüse|milz|gallen\\p{L}+|mandeln|darm|magen|nerven?|venen?|arterien?|brust\\p{L}*|urin|stuhlgang|lungen?|zahn(?:fleisch)?|zähne|muskeln?|knochen|rippen?|kiefer|gelenke?|schulter)';
const concern =
  "(?:my|i|i'm|i've|me|he|she|his|her|son|daughter|wife|husband|mother|father|mom|dad|baby|normal|cure|treat(?:ed|ment)?|heal|removed?|problems?|pain(?:s|ful)?|hurts?|removal|remedy|remedies|disease|disorder|damage|mein\\p{L}*|ich|mir|mich|heilen|behandel\\p{L}*|probleme?|schmerz\\p{L}*)";
const worry = inOneSentence(organ, concern);

/** Signs of a question about a body, a medicine or a life at risk. */
export const medicalSigns: readonly RegExp[] = [substance, disease, dose, symptom, worry, phrases(...words.medicalSigns)];

const obligation = '(?:do|must|have|can|could|may|am|are|is|does|will|should)';
const wrongs = '(?:fire|dismiss|evict|deduct|withhold|force|make|search|record|film|arrest|deport|sue|charge|refuse|deny|cancel|terminate)';
/** Signs of a question about rights, duties and deadlines, in any field of law. */
export const legalSigns: readonly RegExp[] = [
  anyOf(
    `(?<!\\p{L})${obligation} (?:my|the|an?|they|he|she|the) ?(?:\\p{L}+ ){0,3}${wrongs} (?:me|us|my|our|someone|somebody|an? \\p{L}+)(?!\\p{L})`,
  ),
  phrases(...words.legalSigns),
];

const chemical =
  '(?:bleach|chlorine|ammonia|hydrogen peroxide|acids?|drain cleaner|cleaners?|cleaning (?:agents?|products?)|vinegar|solvents?|antifreeze|methanol|pesticides?|herbicides?|chlor\\p{L}*|ammoniak|wasserstoffperoxid|säuren?|\\p{L}*säure|\\p{L}*reiniger|essig|lösungsmittel|frostschutz\\p{L}*|methanol|pflanzenschutz\\p{L}*)';
const together =
  '(?:mix|mixing|mixed|combine|combining|combined|add|pour|inhal\\p{L}*|breath\\p{L}*|drank|drink|swallow\\p{L}*|misch\\p{L}*|gemischt|zusammen\\p{L}*|kombinier\\p{L}*|schütt\\p{L}*|eingeatmet|einatm\\p{L}*|getrunken|geschluckt|verschluckt)';
/** Signs of dangers where a wrong answer may hurt or kill: poison, electricity, gas, fire, wild food. */
export const dangerSigns: readonly RegExp[] = [
  inOneSentence(chemical, together),
  inOneSentence(
    '(?:mushrooms?|berr(?:y|ies)|plants?|pilze?n?|beeren?|pflanzen?)',
    '(?:eat|ate|eaten|edible|safe|wild|gegessen|essen|essbar|genießbar|wilde?n?)',
  ),
  phrases(...words.dangerSigns),
];
