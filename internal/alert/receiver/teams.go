package receiver

import (
	"context"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/notify"
)

// teamsText bounds one text of a card: a message as a whole may have 28 KB.
const teamsText = 4000

// teams posts an Adaptive Card to a workflow of Microsoft Teams with the trigger "When a
// Teams webhook request is received". Texts are text runs, so Teams interprets no
// Markdown.
type teams struct {
	client
	url string
}

func newTeams(s notify.Settings) (notify.Notifier, error) {
	return &teams{newClient("is the workflow still there, and its URL whole?"), s.URL}, nil
}

type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Body    []teamsBlock  `json:"body"`
	Actions []teamsAction `json:"actions,omitempty"`
}

// teamsBlock is a RichTextBlock.
type teamsBlock struct {
	Type    string     `json:"type"`
	Inlines []teamsRun `json:"inlines"`
}

type teamsRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
	Size   string `json:"size,omitempty"`
	Color  string `json:"color,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Notify implements Notifier.
func (t *teams) Notify(ctx context.Context, n *notify.Notice) notify.Response {
	r, _ := t.post(ctx, t.url, teamsMessageOf(n), nil)
	return r
}

func teamsMessageOf(n *notify.Notice) teamsMessage {
	card := teamsCard{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4"}
	add := func(runs ...teamsRun) {
		for i := range runs {
			runs[i].Type, runs[i].Text = "TextRun", notify.Cut(runs[i].Text, teamsText)
		}
		card.Body = append(card.Body, teamsBlock{Type: "RichTextBlock", Inlines: runs})
	}
	add(teamsRun{Text: n.Headline(), Weight: "Bolder", Size: "Medium", Color: teamsColor(n)})
	for _, l := range n.Lines() {
		add(teamsRun{Text: l.Label() + " ", Weight: "Bolder"}, teamsRun{Text: l.Text})
	}
	for _, f := range n.Facts() {
		add(teamsRun{Text: f.Name + ": ", Weight: "Bolder"}, teamsRun{Text: f.Value})
	}
	for _, l := range n.Links() {
		card.Actions = append(card.Actions, teamsAction{Type: "Action.OpenUrl", Title: l.Text, URL: l.URL})
	}
	return teamsMessage{Type: "message", Attachments: []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}}
}

// teamsColor is the colour of a headline, in Teams' words.
func teamsColor(n *notify.Notice) string {
	switch {
	case n.IsResolved():
		return "Good"
	case n.Severity() == detect.Critical:
		return "Attention"
	case n.Severity() == detect.Warning:
		return "Warning"
	}
	return "Default"
}
