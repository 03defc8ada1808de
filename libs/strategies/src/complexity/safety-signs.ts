import { phrases } from './phrases.js';

/**
 * Stems by which names of active substances are made (International Nonproprietary Names), in their English and German endings: they
 * tell medicines that no list here knows.
 */
const substance = new RegExp(
  `(?<!\\p{L})\\p{L}{3,}(?:${[
    'cillin', 'mycin', 'micin', 'cyclin', 'floxacin', 'conazol', 'azol', 'tidin', 'pril', 'prilat', 'sartan', 'olol', 'dipin', 'statin', 'fibrat', 'azepam', 'zolam', 'zepam', 'barbital', 'profen', 'fenac', 'coxib', 'triptan', 'setron', 'oxetin', 'triptylin', 'pramin', 'peridon', 'tiapin', 'cain', 'codon', 'morphon', 'morphin', 'fentanil', 'cetamol', 'gliptin', 'gliflozin', 'glutid', 'formin', 'parin', 'xaban', 'gatran', 'vudin', 'ciclovir', 'navir', 'zumab', 'ximab', 'tinib', 'dronat', 'buterol', 'lukast', 'methason', 'cortison', 'nisolon', 'thiazid', 'semid', 'thyroxin', 'gestrel', 'phyllin',
  ].join('|')})(?:e|um|s)?(?!\\p{L})`,
  'iu',
); // prettier-ignore

const amount = '(?:how (?:much|many|often|long|high)|what(?: is| are|\'s)? (?:the|a) (?:maximum|max|right|safe|correct|recommended|usual|highest|daily|lethal)|maximum|at most|too much|wie ?viele?|wie oft|wie lange|wie hoch|höchst\\p{L}*|maximal\\p{L}*|zu viel|tages\\p{L}+|einzeldosis)'; // prettier-ignore
const intake = '(?:take|takes|taking|taken|give|giving|swallow|inject|drink|eat|dose|dosage|nehmen|nimmt|einnehmen|einnimmt|genommen|geben|gibt|schlucken|spritzen|trinken|essen|verabreich\\p{L}*|dosier\\p{L}*|dosis)'; // prettier-ignore
const living = '(?:adults?|child|children|kids?|toddlers?|bab(?:y|ies)|infants?|newborns?|teen\\p{L}*|\\d+[ -]?(?:year|month|week)s?[ -]?olds?|pregnan\\p{L}*|breastfeed\\p{L}*|patients?|dogs?|cats?|my (?:son|daughter|mother|father|wife|husband|mum|mom|dad|grand\\p{L}+)|\\d+ ?(?:kg|kilos?|pounds|lbs?)|erwachsene[rn]?|kind(?:er|ern|es)?|kleinkind\\p{L}*|bab(?:y|ys)|säugling\\p{L}*|jugendliche\\p{L}*|\\d+[ -]?jährige[rnms]?|schwangere\\p{L}*|stillende?|hund\\p{L}*|katzen?|(?:mein|unser)e?n? (?:sohn|tochter|mutter|vater|frau|mann|oma|opa))'; // prettier-ignore
/** Amount, intake and who gets it, in any order and within one sentence. */
const dose = new RegExp(
  `(?=[^.!?]{0,200}(?<!\\p{L})${amount}(?!\\p{L}))(?=[^.!?]{0,200}(?<!\\p{L})${intake}(?!\\p{L}))(?=[^.!?]{0,200}(?<!\\p{L})${living}(?!\\p{L}))`,
  'iu',
);
/** A part of a body with what is wrong with it. */
const bodyPart = '(?:head|eyes?|ears?|nose|mouth|tongue|throat|neck|chest|heart|breasts?|stomach|belly|back|arms?|hands?|fingers?|legs?|feet|foot|toes?|knees?|hips?|skin|lips?|face|kopf|augen?|ohr(?:en)?|nase|mund|zunge|hals|nacken|brust|herz|magen|bauch|rücken|arme?|hände?|hand|finger|beine?|füße?|fuß|zehen?|knie|hüfte|haut|lippen?|gesicht)'; // prettier-ignore
const ailing = '(?:numb|tingl\\p{L}*|swollen|swelling|burn(?:s|ing|t)|itch\\p{L}*|bleed\\p{L}*|blister\\p{L}*|lumps?|sore|stiff|cramp\\p{L}*|paraly\\p{L}*|droop\\p{L}*|racing|infected|broken|yellow|blue|taub|kribbel\\p{L}*|geschwollen|schwellung|brenn\\p{L}*|juck\\p{L}*|blut\\p{L}*|blase[n]?|knoten|wund|steif|krampf\\p{L}*|gelähmt|rast|entzünde\\p{L}*|gebrochen|gelb|blau)'; // prettier-ignore
const symptom = new RegExp(
  `(?<!\\p{L})(?:${bodyPart}(?!\\p{L})[^.!?]{0,40}(?<!\\p{L})${ailing}|${ailing}(?!\\p{L})[^.!?]{0,30}(?<!\\p{L})${bodyPart})(?!\\p{L})`,
  'iu',
);

/** What a question about a body, a medicine or a life at risk says, whatever it names. */
export const medicalSigns: readonly RegExp[] = [
  substance,
  dose,
  symptom,
  phrases(
    '(?:short(?:ness)? of|trouble|difficulty|cannot|can\'t|hard to) breath*', 'not breathing', 'unconscious', 'passed out', 'faint(?:ed|ing|s)?', 'chok(?:ed|es|ing)', 'drown*', 'first aid', 'ambulance', 'wounds?', 'snake ?bites?', 'tick ?bites?', 'withdrawal', 'on an empty stomach', 'prescri(?:bed|ption)s?', 'vitamin \\p{L}\\d* ?(?:overdose|tablets?|pills?)', 'heart ?(?:beat|rate)', 'blood sugar', 'miscarr*', 'contracept*', 'abortion*', 'chemo*', 'an(?:a)?esthe*',
    '(?:hurt|harm|cut|kill) (?:myself|himself|herself|themselves|oneself)', '(?:do not|don\'t|no longer) want to (?:live|be here|exist|go on)', 'no reason to (?:live|go on)', 'end(?:ing)? (?:it all|my (?:own )?life)', 'tak(?:e|ing) my (?:own )?life', 'suicid*', 'better off dead', 'starv(?:e|ing) myself',
    'atemnot', 'keine luft', 'atmet nicht', 'bewusstlos*', 'ohnmächtig*', 'ohnmacht', 'erstick*', 'ertrink*', 'ertrunken', 'erste hilfe', 'notarzt*', 'wunden?', 'schlangenbiss*', 'zeckenbiss*', 'entzug(?:serscheinung)?*', 'auf nüchternen magen', 'rezeptpflichtig*', 'verschrieben', 'beipackzettel*', 'herzschlag', 'blutzucker*', 'fehlgeburt*', 'verhütung*', 'abtreib*', 'chemotherapie*', 'narkose*', 'symptom*',
    '(?:mir|sich) (?:selbst )?(?:etwas|was|das leben) (?:an)?(?:zu)?(?:tun|nehmen)', '(?:mich|sich) (?:selbst )?(?:verletz*|ritz*|töte*)', 'nicht mehr (?:leben|da sein|weiterleben)', 'keinen sinn mehr', 'alles beenden',
  ),
]; // prettier-ignore

const obligation = '(?:do|must|have|can|could|may|am|are|is|does|will|should)';
const wrongs = '(?:fire|dismiss|evict|deduct|withhold|force|make|search|record|film|arrest|deport|sue|charge|refuse|deny|cancel|terminate)';
/** What a question about rights, duties and terms says, whatever field of law it is. */
export const legalSigns: readonly RegExp[] = [
  new RegExp(`(?<!\\p{L})${obligation} (?:my|the|an?|they|he|she|the) ?(?:\\p{L}+ ){0,3}${wrongs} (?:me|us|my|our|someone|somebody|an? \\p{L}+)(?!\\p{L})`, 'iu'),
  phrases(
    'entitled to', 'a right to', 'have the right', 'rights? (?:as|of) (?:an? )?(?:tenants?|employees?|buyers?|consumers?|passengers?|parents?|owners?)', '(?:deadline|time limit|how long|until when|period) .{0,60}(?:appeal|object|file|claim|sue|contest|withdraw|give notice|dispute)*', '(?:do|must) (?:i|we) (?:have to |need to )?(?:testify|sign|pay (?:the|a|this) (?:fine|fee|bill|damages)|disclose)', 'statutory*', 'lawful*', 'unlawful*', 'prosecut*', 'sentence for', 'penalt(?:y|ies) for', 'criminal*', 'tax (?:evasion|return|relief)', 'asylum', 'child support',
    'anspruch auf', 'ansprüche', 'frist(?:en)? .{0,60}(?:einspruch|widerspruch|klage|kündig*|berufung|anfecht*|widerruf*)', '(?:einspruch|widerspruch|klage|berufung|anfechtung|widerruf)\\p{L}* .{0,60}(?:frist|wie lange|bis wann|tage|wochen|monate)', '(?:wie lange|bis wann|innerhalb welcher) .{0,80}(?:einspruch|widerspruch|klagen|kündigen|berufung|anfechten|widerrufen|zurückgeben|reklamieren)', 'einspruch', 'berufung einlegen', 'muss ich .{0,40}(?:zahlen|unterschreiben|aussagen|dulden|haften)', '(?:darf|dürfen|kann|muss) (?:mein*|die polizei|der staat|man) .{0,60}(?:entlassen|kündigen|einbehalten|verlangen|durchsuchen|filmen|abmahnen|verweigern|mahnen)', 'gesetzlich*', 'strafe (?:für|auf)', 'steuerhinterziehung', 'asyl*', 'unterhalt(?:spflicht|szahlung)*', 'rechte (?:habe|hat|haben) (?:ich|man|wir|ein*)',
  ),
]; // prettier-ignore

const chemical = '(?:bleach|chlorine|ammonia|hydrogen peroxide|acids?|drain cleaner|cleaners?|cleaning (?:agents?|products?)|vinegar|solvents?|antifreeze|methanol|pesticides?|herbicides?|chlor\\p{L}*|ammoniak|wasserstoffperoxid|säuren?|\\p{L}*säure|\\p{L}*reiniger|essig|lösungsmittel|frostschutz\\p{L}*|methanol|pflanzenschutz\\p{L}*)'; // prettier-ignore
const together = '(?:mix|mixing|mixed|combine|combining|combined|add|pour|inhal\\p{L}*|breath\\p{L}*|drank|drink|swallow\\p{L}*|misch\\p{L}*|gemischt|zusammen\\p{L}*|kombinier\\p{L}*|schütt\\p{L}*|eingeatmet|einatm\\p{L}*|getrunken|geschluckt|verschluckt)'; // prettier-ignore
/** What may hurt or kill whoever follows a wrong answer: poison, electricity, gas, fire, wild food. */
export const dangerSigns: readonly RegExp[] = [
  new RegExp(`(?=[^.!?]{0,200}(?<!\\p{L})${chemical}(?!\\p{L}))(?=[^.!?]{0,200}(?<!\\p{L})${together}(?!\\p{L}))`, 'iu'),
  /(?=[^.!?]{0,200}(?<!\p{L})(?:mushrooms?|berr(?:y|ies)|plants?|pilze?n?|beeren?|pflanzen?)(?!\p{L}))(?=[^.!?]{0,200}(?<!\p{L})(?:eat|ate|eaten|edible|safe|wild|gegessen|essen|essbar|genießbar|wilde?n?)(?!\p{L}))/iu,
  phrases(
    'poison*', 'toxic*', 'venom*', 'lethal*', 'deadly', 'fatal', 'asbestos', 'radioactiv*', 'explosi(?:ve|on)*', 'gunpowder', 'flammable', '(?:grease|oil|chip|electrical) fire', 'carbon monoxide', '(?:smell|smells|smelling) (?:of |like )?gas', 'gas (?:leak|line|pipe|stove|boiler|bottle|heater|smell)*', 'electric(?:al)? shocks?', 'electrocut*', 'live wires?', '(?:re)?wir(?:e|ing) (?:an? |the |my |up )?(?:\\p{L}+ )?(?:socket|outlet|lamp|light|switch|plug|oven|stove|cooker|charger|house|kitchen)*', 'fuse ?box', 'breaker (?:panel|box)', 'circuit breakers?', 'high voltage', 'mains (?:voltage|power|electricity)', 'wall ?box', 'jump[ -]?start*', 'lithium batter(?:y|ies)', 'botulism', 'canning', 'avalanche*', 'decompression', 'jack stands?',
    'giftig*', 'ungiftig*', 'tödlich*', 'asbest*', 'radioaktiv*', 'explosiv*', 'explosion*', 'explodier*', 'schwarzpulver', 'entzündlich*', 'fettbrand', 'kohlenmonoxid*', 'gasgeruch', 'riecht (?:es )?(?:\\p{L}+ )?nach gas', 'nach gas (?:riecht|stinkt)', 'gas(?:leitung|herd|therme|flasche|heizung|leck|anschluss)*', 'stromschl*', '(?:stark|dreh)strom*', 'hochspannung*', 'netzspannung', 'steckdosen?', 'sicherungskasten*', 'stromkabel*', 'stromleitung*', '(?:\\p{L}{0,20}lampe|\\p{L}{0,20}leuchte|herd|steckdose|schalter|wallbox|leitung|kabel) .{0,40}(?:an|anschließ*|anklemm*|anzuschließen|verkabel*|verdraht*|angeschlossen)', '(?:klemme?|schließe?|verkabl*|verdraht*) .{0,60}(?:\\p{L}{0,20}lampe|\\p{L}{0,20}leuchte|herd|kabel|schalter|phase)', 'starthilfe', 'lithium(?:-ionen)?-?akku*', 'giftpfl*', 'giftpilz*', 'giftstoff*', 'botulismus', 'einkochen', 'lawine*',
  ),
]; // prettier-ignore
