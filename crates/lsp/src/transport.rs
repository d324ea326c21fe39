//! Messages on standard input and output. Lengths that a client announces are not believed beyond a limit, and a message that is
//! not understood is passed over.

use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

use crossbeam_channel::unbounded;
use lsp_server::{Connection, Message};

/// No message of an editor is longer.
const MOST_BYTES: usize = 256 << 20;
/// Nor is a line of its header.
const MOST_HEADER: u64 = 4096;

/// A connection over standard input and output, and the thread that writes.
pub(crate) fn stdio() -> (Connection, Option<JoinHandle<()>>) {
    let (to_server, receiver) = unbounded();
    let (sender, to_client) = unbounded::<Message>();
    let reader = std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(body)) = read(&mut input) {
            let Ok(message) = serde_json::from_slice::<Message>(&body) else {
                continue;
            };
            let is_exit = matches!(&message, Message::Notification(notification) if notification.method == "exit");
            if to_server.send(message).is_err() || is_exit {
                break;
            }
        }
    });
    // Without a thread that reads nothing ever comes, and the connection is closed.
    drop(reader);
    let writer = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let mut output = io::stdout().lock();
        for message in to_client {
            if message.write(&mut output).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
    });
    (Connection { sender, receiver }, writer.ok())
}

/// The body of the next message; `None` at the end of the input.
fn read(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(MOST_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line
            .strip_suffix('\n')
            .ok_or_else(|| wrong("a header without an end"))?;
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| wrong("no header"))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length
        .filter(|length| *length <= MOST_BYTES)
        .ok_or_else(|| wrong("no length"))?;
    let mut body = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut body)?;
    if read == length {
        Ok(Some(body))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_one_after_the_other() {
        let mut input = &b"Content-Length: 2\r\n\r\n{}content-type: x\r\nCONTENT-LENGTH:3\r\n\r\nabc"[..];
        assert_eq!(read(&mut input).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(read(&mut input).unwrap().as_deref(), Some(&b"abc"[..]));
        assert_eq!(read(&mut input).unwrap(), None);
        for wrong in [
            "Content-Length: 99999999999999\r\n\r\n{",
            "Content-Length: 3\r\n\r\n{",
            "Content-Length: -1\r\n\r\n",
            "\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            assert!(read(&mut wrong.as_bytes()).is_err(), "{wrong}");
        }
        let endless = vec![b'x'; 100_000];
        assert!(read(&mut &endless[..]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..60) {
            let mut framed = b"Content-Length: 7\r\n\r\n{\"a\":1}Content-Length: 9\r\n\r\n".to_vec();
            framed.truncate(cut);
            framed.extend(bytes);
            let mut input = &framed[..];
            for _ in 0..10 {
                if !matches!(read(&mut input), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}
