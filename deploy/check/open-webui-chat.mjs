import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { until } from './until.mjs';

export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const pictures = path.resolve(import.meta.dirname, '../../docs/pictures/open-webui');

/** The chat page of Open WebUI, used as a person would use it, by reading what it shows. */
export class Chat {
  constructor(page, url) {
    this.page = page;
    this.url = url;
  }

  static async open(browser, url) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-GB', colorScheme: 'light' });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    const chat = new Chat(page, url);
    await page.goto(url);
    const news = page.getByRole('button', { name: /Okay, Let's Go/ });
    await Promise.race([news.waitFor(), page.locator('#chat-input').waitFor()]);
    if (await news.isVisible()) await news.click();
    return chat;
  }

  /** Begins a chat with a model. */
  async begin(model) {
    await this.page.goto(`${this.url}/?model=${encodeURIComponent(model)}`);
    await this.page.getByRole('button', { name: /Selected model: \S/ }).waitFor();
  }

  /** Attaches a file to the next question, as a person does who drops it on the page. */
  attach(file) {
    return this.page.locator('input[type=file]').first().setInputFiles(file);
  }

  async ask(question) {
    await this.page.locator('#chat-input').click();
    await this.page.keyboard.type(question);
    await this.page.keyboard.press('Enter');
  }

  /** Waits until the answer to the n-th question of the chat has ended, and returns its text. */
  async answer(n = 1) {
    const all = this.page.locator('.chat-assistant');
    const isEnded = async () =>
      (await all.count()) === n &&
      (await this.page.getByRole('button', { name: 'Stop' }).count()) === 0 &&
      (await this.newest().innerText());
    return until(`answer ${n}`, isEnded, 90_000);
  }
  newest() {
    return this.page.locator('.chat-assistant').last();
  }

  async picture(name) {
    mkdirSync(pictures, { recursive: true });
    await this.page.screenshot({ path: path.join(pictures, `${name}.png`) });
  }
}
