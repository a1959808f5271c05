//! A real browser, driven by the Chrome DevTools Protocol over pipes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// How long the browser may take for one answer, on a machine that is busy.
const LONG: Duration = Duration::from_secs(120);

/// The browser's executable; none if there is none.
pub fn chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| which::which(name).ok())
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Json>,
    waiting: VecDeque<Json>,
    page: String,
    last: u64,
    opened: u64,
    /// What the page and the browser complained of, and what windows it opened.
    pub complaints: Vec<String>,
    /// What was asked for of anybody.
    pub requests: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts one, with an empty profile.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(chromium().expect("there is a browser"))
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut browser = Self {
            process,
            commands,
            messages: read(answers),
            waiting: VecDeque::new(),
            page: String::new(),
            last: 0,
            opened: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let page = browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        browser.page = page;
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Performance.enable", json!({ "timeDomain": "threadTicks" }));
        browser.size(1280, 900);
        browser
    }

    /// Asks for something, and gives the answer.
    pub fn call(&mut self, method: &str, parameters: Json) -> Json {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.page.is_empty() {
            message["sessionId"] = self.page.clone().into();
        }
        self.commands.write_all(message.to_string().as_bytes()).unwrap();
        self.commands.write_all(b"\0").unwrap();
        loop {
            let answer = self.receive(LONG).unwrap_or_else(|| panic!("no answer to {method}"));
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.waiting.push_back(answer);
        }
    }

    /// The next message; none if there is none in time. What matters to tests is kept.
    fn receive(&mut self, time: Duration) -> Option<Json> {
        let message = self.messages.recv_timeout(time).ok()?;
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => {
                self.complaints.push(message.to_string());
            }
            "Runtime.consoleAPICalled" if parameters["type"] != "log" => {
                self.complaints.push(message.to_string());
            }
            "Log.entryAdded" => self.complaints.push(message.to_string()),
            "Network.requestWillBeSent" => {
                self.requests.push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            _ => {}
        }
        Some(message)
    }

    /// Opens a file, and gives how long that took until its first picture stood.
    pub fn open(&mut self, path: &Path, fragment: &str) -> Duration {
        // A change of the fragment alone would load nothing; what a file's address asks for makes no difference.
        self.opened += 1;
        let place = path.canonicalize().unwrap();
        let url = format!("file://{}?{}{fragment}", place.display(), self.opened);
        self.waiting.clear();
        let began = Instant::now();
        self.call("Page.navigate", json!({ "url": url }));
        while !self.waiting.iter().any(|message| message["method"] == "Page.loadEventFired") {
            let message = self.receive(LONG).expect("the page is loaded");
            self.waiting.push_back(message);
        }
        self.wait(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
        began.elapsed()
    }

    /// The size of the window.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// How much processor time the page has taken so far.
    pub fn busy(&mut self) -> Duration {
        let answer = self.call("Performance.getMetrics", json!({}));
        let metrics = answer["metrics"].as_array().expect("there are figures");
        let found =
            metrics.iter().find(|metric| metric["name"] == "TaskDuration").expect("this is one of them");
        Duration::from_secs_f64(found["value"].as_f64().expect("it is a number"))
    }

    /// The value of an expression.
    pub fn ask(&mut self, expression: &str) -> Json {
        let question = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", question);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// The value of an expression, as text.
    pub fn text(&mut self, expression: &str) -> String {
        self.ask(expression).as_str().unwrap_or_else(|| panic!("{expression} is no text")).to_owned()
    }

    /// Its value, as a number.
    pub fn number(&mut self, expression: &str) -> f64 {
        self.ask(expression).as_f64().unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let end = Instant::now() + LONG;
        while self.ask(expression) != true {
            assert!(Instant::now() < end, "{expression} does not become true");
            self.ask("new Promise(done => setTimeout(done, 20))");
        }
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "End" => 35,
            "Home" => 36,
            other => panic!("{other} is no key that tests press"),
        };
        let text = if key == "Enter" { json!("\r") } else { Json::Null };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if !text.is_null() && kind == "keyDown" {
                event["text"] = text.clone();
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text into what has the focus.
    pub fn insert(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Checks that nothing went wrong so far, and that nothing but files was asked for.
    pub fn is_content(&mut self, path: &Path) {
        let url = format!("file://{}", path.canonicalize().unwrap().display());
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
        let is_own =
            |asked: &&String| asked.starts_with(&url) || *asked == "about:blank" || *asked == "data:,";
        let foreign: Vec<&String> = self.requests.iter().filter(|asked| !is_own(asked)).collect();
        assert!(foreign.is_empty(), "{foreign:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The messages of a browser, each of which ends in a zero byte.
fn read(answers: ChildStdout) -> Receiver<Json> {
    let (send, messages) = mpsc::channel();
    thread::spawn(move || {
        let mut answers = BufReader::new(answers);
        loop {
            let mut message = Vec::new();
            match answers.read_until(0, &mut message) {
                Ok(read) if read > 0 => {}
                _ => return,
            }
            message.pop();
            if send.send(serde_json::from_slice(&message).unwrap()).is_err() {
                return;
            }
        }
    });
    messages
}
