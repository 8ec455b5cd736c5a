package receiver

import (
	"context"

	"github.com/keyheat/keyheat/detect"
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

func newTeams(s Settings) (Notifier, error) {
	return &teams{newClient("is the workflow still there, and its URL whole?"), s.URL}, nil
}

// Notify implements Notifier.
func (t *teams) Notify(ctx context.Context, n *Notice) Response {
	r, _ := t.post(ctx, t.url, teamsMessageOf(n), nil)
	return r
}

func teamsMessageOf(n *Notice) object {
	var body, actions []object
	add := func(runs ...object) {
		for _, run := range runs {
			run["type"] = "TextRun"
		}
		body = append(body, object{"type": "RichTextBlock", "inlines": runs})
	}
	addNamed := func(name, text string) {
		add(object{"text": Cut(name, teamsText), "weight": "Bolder"}, object{"text": Cut(text, teamsText)})
	}
	add(object{"text": Cut(n.Headline(), teamsText), "weight": "Bolder", "size": "Medium", "color": teamsColor(n)})
	for _, l := range n.Lines() {
		addNamed(l.Label()+" ", l.Text)
	}
	for _, f := range n.Facts() {
		addNamed(f.Name+": ", f.Value)
	}
	for _, l := range n.Links() {
		actions = append(actions, object{"type": "Action.OpenUrl", "title": l.Text, "url": l.URL})
	}
	card := object{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	if actions != nil {
		card["actions"] = actions
	}
	return object{"type": "message", "attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

func teamsColor(n *Notice) string {
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
