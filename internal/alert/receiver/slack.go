package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Slack's limits on texts, in characters: a header, a section's text, and one of its
// fields.
const (
	slackAPI     = "https://slack.com/api"
	slackHeader  = 150
	slackSection = 3000
)

// slack posts to an incoming webhook, or as a bot that rewrites its message when the
// incident changes. Texts have the type plain_text, so Slack interprets neither markup
// nor mentions.
type slack struct {
	client
	url            string
	token, channel string
	header         http.Header
}

func newSlack(s Settings) (Notifier, error) {
	switch {
	case s.URL == "" && s.Secret == "":
		return nil, options.Fault{Field: "url", Err: errors.New("give the URL of an incoming webhook, or a bot's token as secret and a channel")}
	case s.Secret != "" && s.Channel == "":
		return nil, options.Fault{Field: "channel", Err: errors.New("missing: a bot needs the channel's ID, such as C0123456789")}
	case s.Secret == "" && s.Channel != "":
		return nil, options.Fault{Field: "channel", Err: errors.New("an incoming webhook has its channel already: take it out, or give a bot's token as secret")}
	}
	sl := &slack{client: newClient("is the URL whole, the webhook or app still there, and the channel not archived?"), url: s.URL, token: s.Secret, channel: s.Channel}
	if s.Secret != "" {
		sl.header = http.Header{"Authorization": {"Bearer " + s.Secret}}
		if s.URL == "" {
			sl.url = slackAPI
		}
	}
	return sl, nil
}

// Notify implements Notifier.
func (s *slack) Notify(ctx context.Context, n *Notice) Response {
	m := slackMessageOf(n)
	if s.token == "" {
		r, _ := s.post(ctx, s.url, m, nil)
		return r
	}
	m["channel"] = s.channel
	method := "/chat.postMessage"
	// A new firing is a new message: Slack does not announce a rewritten one.
	if channel, ts, known := strings.Cut(n.Receipt, " "); known && n.Event != string(detect.EventFiring) {
		m["channel"], m["ts"], method = channel, ts, "/chat.update"
	}
	return s.call(ctx, method, m)
}

// call calls a method of Slack's Web API. Slack answers 200 even if it refuses.
func (s *slack) call(ctx context.Context, method string, m object) Response {
	r, body := s.post(ctx, s.url+method, m, s.header)
	if r.Err != nil {
		return r
	}
	var answer struct {
		OK          bool
		Error       string
		Channel, TS string
	}
	if json.Unmarshal(body, &answer) != nil {
		return Response{Err: errors.New("the receiver's answer is not from Slack's Web API"), Unsent: true}
	}
	switch {
	case answer.OK:
		return Response{Receipt: answer.Channel + " " + answer.TS}
	case answer.Error == "message_not_found" && m["ts"] != nil:
		delete(m, "ts") // somebody deleted it
		return s.call(ctx, "/chat.postMessage", m)
	}
	temporary := map[string]bool{"ratelimited": true, "rate_limited": true, "fatal_error": true, "internal_error": true, "service_unavailable": true, "request_timeout": true}
	return Response{Err: fmt.Errorf("the answer from Slack is %s", slackError(answer.Error)), Refused: !temporary[answer.Error], Unsent: true}
}

// slackErrors are the errors that an operator can fix, as Slack's documentation of
// chat.postMessage names them. Other errors are not repeated.
var slackErrors = map[string]string{
	"invalid_auth": "the token is not valid", "not_authed": "there is no token", "account_inactive": "the token's workspace or user is gone",
	"token_revoked": "the token was revoked", "token_expired": "the token has expired", "missing_scope": "the token lacks the scope chat:write",
	"channel_not_found": "no channel has this ID, or it is private and the bot is not in it", "not_in_channel": "invite the bot into the channel",
	"is_archived": "the channel is archived", "msg_too_long": "the message is too long", "ratelimited": "too many messages", "rate_limited": "too many messages",
}

func slackError(code string) string {
	if text, known := slackErrors[code]; known {
		return code + ": " + text
	}
	return "an error"
}

// slackMessageOf returns the body of chat.postMessage, chat.update and an incoming webhook:
// a notice in blocks.
func slackMessageOf(n *Notice) object {
	var blocks []object
	add := func(kind, text string, most int) {
		if text != "" {
			blocks = append(blocks, object{"type": kind, "text": plainText(text, most)})
		}
	}
	add("header", n.Headline(), slackHeader)
	if len([]rune(n.Headline())) > slackHeader {
		add("section", n.Headline(), slackSection)
	}
	var facts []string
	for _, f := range n.Facts() {
		facts = append(facts, f.Name+": "+f.Value)
	}
	add("section", n.Answers(), slackSection)
	add("section", strings.Join(facts, "\n"), slackSection)
	var buttons []object
	for _, l := range n.Links() {
		buttons = append(buttons, object{"type": "button", "text": plainText(l.Text, slackHeader), "url": l.URL, "action_id": "open-" + strings.ToLower(l.Text)})
	}
	if len(buttons) > 0 {
		blocks = append(blocks, object{"type": "actions", "elements": buttons})
	}
	// A preview of our own page adds nothing.
	return object{"text": inert(n.Headline()), "blocks": blocks, "unfurl_links": false}
}

func plainText(text string, most int) object {
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	return object{"type": "plain_text", "text": text, "emoji": false}
}
