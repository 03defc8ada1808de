import { phrases } from './phrases.js';
import { dangerSigns, legalSigns, medicalSigns } from './safety-signs.js';

/**
 * What a text shows of a field. `raises`: the field's notation or a topic where a wrong answer does harm, which is at least
 * moderate. The others only name the expert of a question that may well be trivial.
 */
export interface Marker {
  readonly name: string;
  readonly category: string;
  readonly raises: boolean;
  readonly pattern: RegExp;
}

const raising = (name: string, category: string, ...patterns: readonly RegExp[]): readonly Marker[] =>
  patterns.map((pattern) => ({ name, category, raises: true, pattern }));
const naming = (category: string, ...patterns: readonly RegExp[]): readonly Marker[] =>
  patterns.map((pattern) => ({ name: category, category, raises: false, pattern }));

/** In order of precedence: the first match names the category. */
export const markers: readonly Marker[] = [
  ...raising(
    'law',
    'legal_advisor',
    /§/u,
    phrases('bgb', 'stgb', 'hgb', 'stpo', 'zpo', 'gmbhg', 'dsgvo', 'gdpr', 'bgh', 'bverfg', 'eugh', 'agb', 'hipaa', 'art(?:icle|ikel|\\.)? \\d+ (?:gg|eu|tfeu|aeuv|echr|emrk|dsgvo|gdpr)'),
    phrases(
      'lawsuit*', 'lawyer*', 'attorney*', 'legal(?:ly|ity)?', 'illegal(?:ly)?', 'sue', 'sued', 'suing', 'landlord*', 'tenant*', 'tenancy', 'my lease', 'the lease', 'eviction', 'evict*', 'liab(?:le|ility)',
      'copyright*', 'trademark*', 'patents?', 'custody', 'divorce*', 'alimony', 'last will', 'inherit*', 'testator', 'statute*', '(?:in|to|supreme|district|federal|high|county) court', 'court (?:order|date|hearing|case)', 'plaintiff', 'defendant', 'non-compete', 'severance', 'wrongful*', 'breach of contract',
      'notice period', 'employment contract', 'against the law', 'power of attorney', 'criminal offence', 'misdemeanor', 'felony', 'bail', 'probate', 'terms of service', 'am i allowed', 'are (?:they|we|you) allowed', 'is (?:it|he|she) (?:even )?allowed', 'my (?:employer|boss|landlord|neighbou?r)s?', 'my rights', 'fined', 'a fine', 'visa', 'obliged to', 'required by law', 'warranty claim', 'refund',
    ),
    phrases(
      'gesetz(?:e|es|en|lich*)?', '*gesetzbuch*', 'rechtlich*', 'rechtswidrig*', 'rechtsanw*', 'anwalt*', 'anwält*', '(?:miet|arbeits|straf|erb|familien|vertrags|urheber|widerrufs|verkehrs|steuer|verwaltungs|datenschutz)recht*',
      'vermieter*', 'mietvertrag*', 'mietminderung*', 'kaution', 'nebenkostenabrechnung', 'kündig(?:en|t|e|st)', '*kündigung*', 'abmahn*', 'widerspruch einlegen', 'klage', 'verklag*', 'gerichtlich*', '(?:amts|land|oberlandes|verwaltungs|arbeits|sozial|bundes)gericht*', '(?:vor|am|beim|zum) gericht', 'urteil(?:e|s)?', 'strafbar*', 'anzeige erstatten',
      'testament*', 'pflichtteil*', 'erben?', 'geerbt', 'erbschaft*', 'scheidung*', 'unterhalt zahlen', 'sorgerecht', 'haftung*', 'haftet', 'arbeitsvertrag*', 'kaufvertrag*', 'gewährleistung*', 'schadens?ersatz*', 'legal', 'illegal', '(?:darf|dürfen) (?:man|mein*|der|die|ein*|unser*)', '(?:mein|dein|unser)(?:e|em|en)? (?:chef|arbeitgeber|vermieter|nachbar)(?:in|n)?', 'meine rechte', 'widerrufen', 'verpflichtet', 'vorgeschrieben', 'erlaubt', 'bußgeld*', 'verjähr*',
    ),
  ),
  ...raising(
    'medicine',
    'medical_consult',
    /(?<![\p{L}\p{N}])[A-TV-Z]\d{2}\.\d{1,2}(?![\p{L}\p{N}.])/u,
    phrases('icd(?:-?1[01])?', '\\d+(?:[.,]\\d+)? ?(?:mg|µg|mcg|ml)(?:/kg)?', 'mmhg'),
    phrases(
      'symptom*', 'diagnos*', 'ibuprofen', 'aspirin', 'paracetamol', 'acetaminophen', 'antibiotic*', 'penicillin allergy', 'insulin', 'medication*', 'medicine', 'overdose*', 'pills?', 'tablets', 'side effects?', 'dosage', 'dose', 'doses', 'pregnan*', 'miscarriage', 'blood pressure',
      'chest (?:pain|hurts?)', '(?:stomach|back|head|throat|tooth|ear|knee|leg|belly|abdominal|joint)[ -]?(?:ache|pain|hurts?)s?', 'pain', 'hurts?', 'fever', 'rash', 'nausea', 'vomit*', 'diarrh*', 'dizzy', 'dizziness', 'seizure*', '(?:a|had|after) stroke', 'heart attack', 'cancer', 'tumou?r*', 'diabet*', 'asthma*',
      'depress(?:ed|ion)', 'anxiety', 'suicid*', 'kill myself', 'end my life', 'want to die', 'self-harm', 'vaccin*', 'allerg*', 'infection*', 'surgery', 'antidepressant*', 'cholesterol', 'migraine*', 'concussion', 'bleeding', 'poison(?:ed|ing)', 'swallowed',
    ),
    phrases(
      '*schmerz*', 'tut (?:mir )?(?:der|die|das|mein*) .{0,20}weh', 'fieber*', 'ausschlag', 'symptome?n?', 'diagnos*', 'schwanger*', 'stillzeit', 'medikament*', 'tabletten?', 'antibiotik*', 'nebenwirkung*', 'wechselwirkung*', 'dosis', 'dosier*', 'überdosis', 'blutdruck*', 'herzinfarkt*',
      'schlaganfall*', 'krebs(?:erkrankung|vorsorge)?', 'tumor*', 'übelkeit', 'erbrech*', 'durchfall', 'schwindel(?:ig|gefühl)?', 'impf*', '*entzündung*', 'infektion*', 'allergi*', 'depress*', 'suizid*', 'selbstmord*', 'umbringen', 'nicht mehr leben', 'migräne*', 'arzneimittel*', 'cholesterin*', 'vergift*', 'verschluckt', 'blutet', 'blutung*', 'therapie*', 'patient(?:in|en|innen)?',
    ),
  ),
  ...raising('medicine', 'medical_consult', ...medicalSigns),
  ...raising('law', 'legal_advisor', ...legalSigns),
  ...raising('danger', 'general', ...dangerSigns),
  ...raising(
    'code',
    'code_reviewer',
    /`[^`\n]+`|^\s*```/mu,
    /(?<![\p{L}\p{N}])(?:def|class|func|fn|function)\s+\w+\s*[({:<]|=>\s*[{(\w]|^#!|^\s*(?:import|from)\s+[\w.{]+|#include\s*</mu,
    /(?<![\p{L}\p{N}_.])[\p{L}\p{N}_]{1,80}(?:\.[\p{L}\p{N}_]{1,80}){1,20}\(|[\p{L}\p{N}_]{2}\(\)|\w(?:Exception|Error)(?![\p{L}\p{N}_])|Traceback|(?:[;{]|\}\s*;?)\s*$|^\s*[[{]\s*"/mu,
    /(?<![\p{L}\p{N}])(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)(?![\p{L}\p{N}])/u,
    /(?<![\p{L}\p{N}])[\p{L}\p{N}_-]+\.(?:py|ts|tsx|js|mjs|java|cpp|cs|go|rs|rb|php|sh|ya?ml|json|sql|toml)(?![\p{L}\p{N}])/u,
    phrases('segfault', 'stack ?trace', 'null pointer', 'pull request', 'code review', 'unit tests?', 'merge conflicts?', 'compil(?:er|ation) error', 'refactor*', 'debugg*'),
  ),
  ...raising(
    'technology',
    'technical_support',
    /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?![\d.])/u,
    phrases(
      'cidr', 'subnetz?*', 'netmask', 'netzmaske', 'broadcast-adresse', 'bgp', 'ospf', 'vlan', 'dhcp', 'oauth2?', 'openid', 'saml', 'ldap', 'tls', 'dnssec', 'iptables', 'nginx', 'kubernetes', 'k8s', 'kubectl', 'helm', 'docker*', 'systemd', 'cronjob', 'cron', 'terraform', 'ansible',
      'kafka (?:topic|broker|consumer|cluster)s?', 'redis', 'postgres(?:ql)?', 'mysql', 'mongodb', 'sql', 'ssh', 'vpn', 'wi-?fi', 'wlan', 'router', 'printer', 'drucker', 'permission denied', 'error (?:message|code)', 'fehler(?:meldung|code)', 'crash(?:es|ed|ing)?', 'freezes', '(?:stürzt|bricht) .{0,30}ab', 'abgestürzt', 'abstürz*', '(?:not|stopped) working', 'geht nicht mehr', 'funktioniert nicht', '(?:startet|bootet|lädt) nicht', 'won\'t (?:start|boot|connect|load|turn on)', 'blue ?screen', 'api', 'dns', 'localhost', 'exit code', 'firmware', 'bios',
    ),
  ),
  ...raising(
    'mathematics',
    'math',
    /[∫∑√∞≤≥≠∂∈]|\\(?:frac|int|sum|sqrt)\b|(?<![\p{L}\p{N}])[a-z]\s*\^\s*\d|(?<![\p{L}\p{N}])\d*[xyz]\s*[-+*/=]\s*\d/u,
    phrases(
      'derivative', 'integra(?:l|te)', 'antiderivative', 'equations?', 'eigenvalue*', 'determinant', 'matri(?:x|ces)', 'polynomial*', 'differentiate', 'factori[sz]e', 'logarithm', 'prime factor*', 'theorem', 'proof', 'prove',
      'ableitung', 'stammfunktion', '*gleichung*', 'eigenwert*', 'determinante', 'matrix', 'matrizen', 'polynom*', 'differenzier*', 'faktorisier*', 'primfaktor*', 'beweis*', 'nullstelle*',
    ),
  ),
  ...raising('data', 'data_analyst', phrases('csv', 'pivot ?tab*', 'regression', 'data ?set', 'datensatz', 'p-value', 'p-wert', 'standard deviation', 'standardabweichung', 'correlation', 'korrelation', 'conversion rate', 'a/b-? ?tests?')),
  ...naming('translation', phrases('translat*', 'übersetz*', 'how (?:do|would) (?:you|i|we) say', 'wie sagt man', 'ins (?:englische|deutsche|französische|spanische|italienische)')),
  ...naming('creative_writer', phrases('poem', 'haiku', 'limerick', 'short story', 'fairy ?tale', 'lyrics', 'joke', 'story about', 'gedicht', 'kurzgeschichte', 'märchen', 'witz', 'liedtext', 'geschichte über', 'slogan')),
  ...naming('agentic_coder', phrases('python', 'java', 'javascript', 'typescript', 'rust', 'golang', 'c\\+\\+', 'c#', 'ruby', 'php', 'kotlin', 'swift', 'html', 'css', 'bash', 'git', 'script', 'skript')),
  ...naming('science', phrases('photosynthes[ei]s*', 'atom*', 'molecul*', 'molekül*', 'gravit*', 'quantum', 'quanten*', 'dna', 'evolution', 'black holes?', 'schwarzes? löch*', 'schwarzes loch', 'chemical', 'chemisch*', 'physics', 'physik*', 'planets?', 'planeten?', 'volcano*', 'vulkan*')),
  ...naming('reasoning', phrases('riddle', 'puzzle', 'brain ?teaser', 'rätsel', 'denksport*')),
  ...naming('math', phrases('maths?', 'mathemati*', 'geometr*', 'algebra')),
]; // prettier-ignore
