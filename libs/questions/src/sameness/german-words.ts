import words from '../assets/german-words.json' with { type: 'json' };
import type { LanguageWords } from './lexicon.js';

export const germanWords: LanguageWords = {
  grammar: `der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem jener von im in am an auf aus bei mit nach zwischen
    zu zum zur für über unter um vom beim ins ans als ist sind war waren sei wäre bin bist werden wird wurde wurden worden würde würden hat haben
    hatte hatten habe hast kann können könnte könnten kannst muss müssen musst soll sollen sollte sollten darf dürfen ich du er sie es wir ihr mich
    dich sich uns euch mir dir ihm ihnen ihn man mein meine meinen meinem meiner dein deine deinen sein seine seinen unser unsere wer wen wem wessen was
    wann wo wie warum wieso weshalb woher wohin welche welcher welches welchen welchem und oder aber wenn dass ob so da hier denn doch noch auch
    nicht kein keine keinen keinem keiner eigentlich bitte mal`,
  framing: `bitte kannst könntest würdest sagen sag sage nenne nennen gib geben zeige zeig erkläre erklär beschreibe liste finde wissen weiß will
    möchte brauche hilf helfen beste besten bester gut weg art weise methode schritt schritte genau eigentlich wirklich einfach möglich machen macht mache
    tun tut geht gehen gibt kommt komme bekomme wort begriff stadt derzeit aktuell aktuelle aktueller aktuellen momentan gerade jetzt moment zurzeit menschen leute
    person sache ding passiert passierte geschah geschehen geschieht heißt heißen nennt lautet bedeutet bedeutung weißt wüsste hieß hießen existiert existieren besitzt besitzen statt stattfinden stattgefunden fand findet form hallo hi danke
    frage frag information informationen definition definiere welch rezept groß richtig richtige richtigen berechne berechnen steht stecken steckt versteht verstehen enthalten enthält verbindung zugverbindung verbindungen viel viele wieviel wieviele grad gibt`,
};

export const germanSynonyms: readonly string[] = words.germanSynonyms;

export const germanOpposites: readonly string[] = words.germanOpposites;
