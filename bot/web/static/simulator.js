"use strict";
// Two phones. Each one asks the server for what is new on it, and shows it; nothing is remembered here but the numbers.

const POLL = 700, POLL_HIDDEN = 4000, MULTITAP = 900, LONG_PRESS = 550;
const STATES = {
  queued: "en route", accepted: "en route", sending: "en route", receiving: "en route", sent: "envoyé", delivered: "remis",
  received: "remis", read: "lu", failed: "échoué", undelivered: "non remis",
};
const KEYS = {
  1: ".,?!'1", 2: "abcàâç2", 3: "deféèê3", 4: "ghiîï4", 5: "jkl5", 6: "mnoôœ6", 7: "pqrs7", 8: "tuvùû8", 9: "wxyz9",
  "*": "+-/=x*%()", 0: " 0",
};
const byId = (id) => document.getElementById(id);

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function svg(paths, box) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  made.setAttribute("viewBox", box);
  made.setAttribute("aria-hidden", "true");
  for (const d of paths) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    made.append(path);
  }
  return made;
}

// -- what a message looks like ------------------------------------------------------------------------------------
function drawTicks(span, status, detail) {
  const one = "M1 6.500 4.500 10 11 2", two = "M7.500 9 8.500 10 15 2";
  const shape = {
    sent: [one], delivered: [one, two], received: [one, two], read: [one, two],
    failed: ["M8 1v7M8 10v1.500"], undelivered: ["M8 1v7M8 10v1.500"],
  }[status] || ["M8 1.500a4.500 4.500 0 1 0 .01 0M8 3.500V6l2 1.500"];
  const label = STATES[status] ? STATES[status] + (detail ? ` (${detail})` : "") : status;
  span.className = "ticks";
  span.dataset.status = status;
  span.title = label;
  span.setAttribute("role", "img");
  span.setAttribute("aria-label", label);
  span.replaceChildren(svg(shape, "0 0 16 12"), ...(detail ? [element("small", "", detail)] : []));
}

// WhatsApp's own marks: *gras* _italique_ ~barré~ ```code``` and links.
const MARKS = /```([^`]+)```|(?<![\p{L}\p{N}*])\*(\S(?:[^*\n]*\S)?)\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(\S(?:[^_\n]*\S)?)_(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}~])~(\S(?:[^~\n]*\S)?)~(?![\p{L}\p{N}~])|(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/gu;
const LINK = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/g;

function link(address) {
  const made = element("a", "", address);
  made.href = address;
  made.target = "_blank";
  made.rel = "noopener";
  return made;
}

function formatted(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(MARKS)) {
    parts.push(text.slice(from, found.index));
    const [all, code, bold, italic, struck, address] = found;
    if (address) parts.push(link(address));
    else if (code) parts.push(element("code", "", code));
    else {
      const made = element(bold ? "strong" : italic ? "em" : "s");
      made.append(...formatted(bold || italic || struck));
      parts.push(made);
    }
    from = found.index + all.length;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}

function plain(text) {
  return text.split(LINK).map((part, i) => (i % 2 ? link(part) : part)).filter((part) => part !== "");
}

function size(bytes) {
  if (!bytes) return "";
  if (bytes < 1024) return `${bytes} octets`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} ko` : `${(bytes / 1024 / 1024).toFixed(1).replace(".", ",")} Mo`;
}

function mediaBox(item) {
  const box = element("div", "media");
  const anchor = element("a");
  anchor.href = item.href;
  anchor.target = "_blank";
  anchor.rel = "noopener";
  if (item.type.startsWith("image/")) {
    const picture = element("img");
    picture.src = item.href;
    picture.alt = item.name;
    anchor.append(picture);
  } else {
    const kind = (item.name.split(".").length > 1 ? item.name.split(".").pop() : item.type.split("/").pop()).slice(0, 4).toUpperCase();
    const text = element("span", "about");
    text.append(element("b", "", item.name), element("small", "", [kind, size(item.size)].filter(Boolean).join(" · ")));
    anchor.append(element("span", "icon", kind), text);
    anchor.classList.add("document");
  }
  box.append(anchor);
  return box;
}

function detailOf(message) {
  if (message.error) return String(message.error);
  if (message.refused !== null) return `HTTP ${message.refused}`;
  const bad = (message.answers || []).find((status) => status < 200 || status > 299);
  return bad === undefined ? "" : bad ? `HTTP ${bad}` : "pas de réponse";
}

// -- a phone ------------------------------------------------------------------------------------------------------
class Phone {
  constructor(kind, draw) {
    Object.assign(this, { kind, draw, after: 0, bubbles: new Map(), timer: 0, turn: 0 });
    this.log = byId(kind === "sms" ? "sms-screen" : "whatsapp-log");
    this.number = byId(`${kind}-number`);
    this.input = byId(`${kind}-input`);
    this.error = byId(`${kind}-error`);
    this.number.value = sessionStorage.getItem(`${kind}-number`) || this.number.value;
    this.number.addEventListener("change", () => this.changeOwner());
    this.number.addEventListener("keydown", (event) => { if (event.key === "Enter") this.number.blur(); });
    byId(`${kind}-form`).addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    this.input.addEventListener("focus", () => { Phone.current = this; });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.send(); }
    });
    this.poll();
  }

  get address() { return (this.kind === "whatsapp" ? "whatsapp:" : "") + this.number.value.replace(/\s/g, ""); }

  changeOwner() {
    sessionStorage.setItem(`${this.kind}-number`, this.number.value.trim());
    Object.assign(this, { after: 0, bubbles: new Map() });
    this.log.replaceChildren();
    this.error.textContent = "";
    this.poll();
  }

  async poll() {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    try {
      const answer = await fetch(`/simulator/messages?address=${encodeURIComponent(this.address)}&after=${this.after}`);
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const news = await answer.json();
      if (turn !== this.turn) return; // the owner has changed in the meantime
      this.after = news.next;
      document.body.classList.remove("away");
      this.show(news);
    } catch (problem) {
      if (turn === this.turn) document.body.classList.add("away");
    }
    if (turn === this.turn) this.timer = setTimeout(() => this.poll(), document.hidden ? POLL_HIDDEN : POLL);
  }

  show(news) {
    const low = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 60;
    let fresh = null;
    for (const message of news.messages) {
      const old = this.bubbles.get(message.sid);
      const bubble = this.draw(message);
      bubble.dataset.sid = message.sid;
      this.bubbles.set(message.sid, bubble);
      if (old) old.replaceWith(bubble);
      else { this.log.append(bubble); fresh = bubble; }
    }
    showTroubles(news.troubles);
    this.showTyping(news.typing);
    if (fresh || low) this.scroll(fresh);
    for (const picture of fresh ? fresh.querySelectorAll("img") : []) picture.addEventListener("load", () => this.scroll(fresh));
  }

  showTyping(typing) {
    const here = this.log.querySelector(".typing");
    if (typing && !here) {
      const bubble = element("div", "bubble in typing");
      bubble.setAttribute("aria-label", "Palabre écrit");
      bubble.append(element("i"), element("i"), element("i"));
      this.log.append(bubble);
    } else if (typing) this.log.append(here);
    else if (here) here.remove();
    const state = byId(`${this.kind}-state`);
    if (state) {
      state.dataset.idle ||= state.textContent;
      state.textContent = typing ? "écrit…" : state.dataset.idle;
    }
  }

  scroll() { this.log.scrollTop = this.log.scrollHeight; }

  async send() {
    const form = new FormData(), text = this.input.value;
    if (!text.trim() && !this.file) return;
    form.set("phone", this.kind);
    form.set("from", this.number.value.trim());
    form.set("text", text);
    if (this.kind === "whatsapp") form.set("name", byId("whatsapp-name").value.trim());
    if (this.file) form.set("file", this.file);
    this.input.value = "";
    this.input.dispatchEvent(new Event("input"));
    const problem = await fetch("/simulator/send", { method: "POST", body: form })
      .then(async (answer) => (answer.ok ? "" : (await answer.json()).error))
      .catch(() => "Le serveur ne répond pas.");
    this.error.textContent = problem;
    if (problem && !this.input.value) { this.input.value = text; this.input.dispatchEvent(new Event("input")); }
    if (!problem) this.attach(null);
    this.poll();
  }

  attach(file) {
    this.file = file;
    if (this.kind !== "whatsapp") return;
    byId("whatsapp-attached").hidden = !file;
    byId("whatsapp-attached").firstElementChild.textContent = file ? `${file.name} · ${size(file.size)}` : "";
    if (!file) byId("whatsapp-file").value = "";
  }
}

function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("fr-FR", { hour: "2-digit", minute: "2-digit" });
}

function whatsappBubble(message) {
  const bubble = element("div", `bubble ${message.mine ? "out" : "in"}`);
  message.media.forEach((item) => bubble.append(mediaBox(item)));
  const text = element("div", "text");
  text.append(...formatted(message.text));
  const foot = element("span", "foot"), ticks = element("span");
  drawTicks(ticks, message.status, detailOf(message));
  foot.append(element("time", "", clock(message.at)), ticks);
  bubble.append(...(message.text ? [text] : []), foot);
  return bubble;
}

function smsBubble(message) {
  const bubble = element("div", `bubble ${message.mine ? "out" : "in"}`);
  const head = element("div", "head"), ticks = element("span"), text = element("div", "text");
  drawTicks(ticks, message.status, detailOf(message));
  head.append(element("span", "", `${message.mine ? "Moi" : "Palabre"} ${clock(message.at)}`), element("span", "parts", `${message.segments} SMS`), ticks);
  text.append(...plain(message.text));
  bubble.append(head, text);
  message.media.forEach((item) => {
    const media = element("div", "media");
    media.append(link(new URL(item.href, location.href).href));
    bubble.append(media);
  });
  return bubble;
}

const whatsapp = new Phone("whatsapp", whatsappBubble);
const sms = new Phone("sms", smsBubble);
Phone.current = whatsapp;
// On the small screen the beginning of a message counts: one reads downwards with the arrow.
sms.scroll = (fresh) => {
  if (fresh) sms.log.scrollTop = fresh.offsetTop - 2;
};

// -- WhatsApp: attached files -------------------------------------------------------------------------------------
byId("whatsapp-file").addEventListener("change", (event) => {
  const file = event.target.files[0];
  const big = file && file.size > Number(document.body.dataset.fileLimit);
  whatsapp.error.textContent = big ? "Le fichier dépasse 5 Mo." : "";
  whatsapp.attach(big ? null : file || null);
  whatsapp.input.focus();
});
byId("whatsapp-attached").lastElementChild.addEventListener("click", () => whatsapp.attach(null));

// -- the feature phone: counter and keypad ------------------------------------------------------------------------
let counting = 0, mode = "abc", tap = { key: "", at: 0, index: 0 };

async function count() {
  const number = ++counting, text = sms.input.value;
  if (!text) { byId("sms-segments").textContent = "0 · 0 SMS"; return; }
  const counted = await fetch(`/simulator/segments?text=${encodeURIComponent(text)}`).then((answer) => answer.json()).catch(() => null);
  if (counted && number === counting) {
    byId("sms-segments").textContent = `${counted.characters} · ${counted.segments} SMS · ${counted.encoding}`;
    byId("sms-segments").dataset.segments = counted.segments;
  }
}
sms.input.addEventListener("input", count);

function write(text, replaced) {
  const input = sms.input, at = input.selectionStart - replaced;
  input.setRangeText(text, Math.max(0, at), input.selectionEnd, "end");
  input.dispatchEvent(new Event("input"));
}

function press(key) {
  Phone.current = sms;
  if (key === "#") {
    mode = { abc: "ABC", ABC: "123", 123: "abc" }[mode];
    byId("sms-mode").textContent = mode;
    tap = { key: "", at: 0, index: 0 };
    return;
  }
  if (mode === "123") { write(key, 0); return; }
  const again = key === tap.key && Date.now() - tap.at < MULTITAP;
  const letters = KEYS[key], index = again ? (tap.index + 1) % letters.length : 0;
  tap = { key, at: Date.now(), index };
  write(mode === "ABC" ? letters[index].toUpperCase() : letters[index], again ? 1 : 0);
}

for (const button of document.querySelectorAll(".key")) {
  let held = 0, long = false;
  button.addEventListener("pointerdown", () => {
    long = false;
    held = setTimeout(() => { long = true; tap.key = ""; write(button.dataset.key, 0); }, LONG_PRESS);
  });
  for (const end of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(end, () => clearTimeout(held));
  button.addEventListener("click", () => { if (!long) press(button.dataset.key); long = false; });
}
byId("sms-clear").addEventListener("click", () => {
  const input = sms.input, alone = input.selectionStart === input.selectionEnd;
  tap.key = "";
  write("", alone && input.selectionStart > 0 ? 1 : 0);
});
byId("sms-up").addEventListener("click", () => { sms.log.scrollTop -= 60; });
byId("sms-down").addEventListener("click", () => { sms.log.scrollTop += 60; });

// -- sentences to try, and troubles -------------------------------------------------------------------------------
for (const button of document.querySelectorAll(".try")) {
  button.addEventListener("click", () => {
    Phone.current.input.value = button.textContent;
    Phone.current.input.dispatchEvent(new Event("input"));
    Phone.current.input.focus();
  });
}

const NOTES = {
  twice: "Chaque message part deux fois avec le même identifiant : il ne doit être lu qu'une fois.",
  late: "Chaque message arrive au webhook cinq secondes après son envoi.",
  slow: "La prochaine réponse du modèle de démonstration prendra huit secondes.",
  fail: "Le prochain message de Palabre échouera avec le code choisi.",
};

function showTroubles(troubles) {
  for (const button of document.querySelectorAll(".trouble")) {
    button.setAttribute("aria-pressed", String(Boolean(troubles[button.dataset.trouble])));
  }
  byId("trouble-note").textContent = Object.keys(NOTES).filter((name) => troubles[name]).map((name) => NOTES[name]).join(" ");
}

for (const button of document.querySelectorAll(".trouble")) {
  button.addEventListener("click", async () => {
    const name = button.dataset.trouble, on = button.getAttribute("aria-pressed") === "true";
    const value = on ? "" : name === "fail" ? byId("fail-code").value : "1";
    const answer = await fetch("/simulator/trouble", { method: "POST", body: new URLSearchParams({ name, value }) });
    if (answer.ok) showTroubles(await answer.json());
  });
}

for (const span of document.querySelectorAll(".legend .ticks")) drawTicks(span, span.dataset.status, "");

function tell() { document.querySelector(".statusbar .clock").textContent = clock(Date.now() / 1000); }
tell();
setInterval(tell, 10000);
