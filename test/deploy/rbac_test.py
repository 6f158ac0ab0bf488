"""deploy/rbac.yaml and the table of rights in docs/operations.md say the same."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RBAC = ROOT / "deploy" / "rbac.yaml"
PAGE = ROOT / "docs" / "operations.md"
ROW = re.compile(r"^\| (?P<role>gang-scheduler\S*) \| (?P<group>[^|]+) \| (?P<resources>[^|]+)"
                 r" \| (?P<verbs>[^|]+) \| (?P<because>[^|]+) \|$")


def words(text):
    """The items of "[a, b]" or "a, b", without quotes."""
    return tuple(item.strip().strip('"') for item in text.strip("[] ").split(","))


def documents(text):
    return [part for part in re.split(r"^---$", text, flags=re.MULTILINE) if part.strip()]


def granted(text):
    """(role, group, resources, verbs) of every rule, in order. The file uses flow lists only."""
    rules = []
    for document in documents(text):
        if not re.search(r"^kind: (Cluster)?Role$", document, re.MULTILINE):
            continue
        role = re.search(r"^  name: (\S+)$", document, re.MULTILINE).group(1)
        for rule in re.split(r"^  - ", document, flags=re.MULTILINE)[1:]:
            fields = dict(re.findall(r"^\s*(\w+): (\[.*\])$", rule, re.MULTILINE))
            rules.append((role, words(fields["apiGroups"]), words(fields["resources"]),
                          words(fields["verbs"])))
    return rules


def documented(text):
    table = text.split("<!-- rights -->")[1].split("<!-- /rights -->")[0]
    rules = []
    for match in filter(None, map(ROW.match, table.splitlines())):
        group = "" if match["group"] == "core" else match["group"]
        rules.append((match["role"], (group,), words(match["resources"]), words(match["verbs"])))
    return rules


class RightsTest(unittest.TestCase):
    """What is granted is documented, rule by rule, and nothing that must never be granted is."""

    def setUp(self):
        self.granted = granted(RBAC.read_text(encoding="utf-8"))

    def test_every_rule_has_its_row(self):
        self.assertGreater(len(self.granted), 5)
        self.assertEqual(self.granted, documented(PAGE.read_text(encoding="utf-8")))

    def test_nothing_is_granted_for_all(self):
        for _, groups, resources, verbs in self.granted:
            self.assertNotIn("*", groups + resources + verbs)
            self.assertNotIn("secrets", resources)
            self.assertFalse({"escalate", "impersonate", "bind"} & set(verbs))

    def test_only_roles_of_their_own_delete(self):
        deletes = {role: resources for role, _, resources, verbs in self.granted
                   if {"delete", "deletecollection"} & set(verbs)}
        self.assertEqual(deletes, {"gang-scheduler-rollback": ("pods",),
                                   "gang-scheduler-extended-resources": ("resourceclaims",),
                                   "gang-scheduler-intents": ("configmaps",)})

    def test_only_the_role_of_the_own_namespace_has_config_maps(self):
        roles = {role for role, _, resources, _ in self.granted if "configmaps" in resources}
        self.assertEqual(roles, {"gang-scheduler-intents"})
        (own,) = (d for d in documents(RBAC.read_text(encoding="utf-8"))
                  if re.search(r"^kind: Role$", d, re.MULTILINE))
        self.assertIn("  name: gang-scheduler-intents\n  namespace: gang-scheduler\n", own)

    def test_every_role_is_bound_to_the_service_account(self):
        text = RBAC.read_text(encoding="utf-8")
        bindings = [d for d in documents(text)
                    if re.search(r"^kind: (Cluster)?RoleBinding$", d, re.MULTILINE)]
        bound = {re.search(r"roleRef:(?:\n  .*)*\n  name: (\S+)", d).group(1) for d in bindings}
        self.assertEqual(bound, {role for role, *_ in self.granted})


if __name__ == "__main__":
    unittest.main()
