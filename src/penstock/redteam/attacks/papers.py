"""Where the attacks were described. One line each, so that several attacks can cite one paper."""

from __future__ import annotations

ADVERSARIAL_POETRY = (
    "Bisconti et al.: Adversarial Poetry as a Universal Single-Turn Jailbreak Mechanism in Large "
    "Language Models, 2025, arXiv:2511.15304"
)
ARTPROMPT = (
    "Jiang et al.: ArtPrompt: ASCII Art-based Jailbreak Attacks against Aligned LLMs, 2024, "
    "arXiv:2402.11753"
)
BAD_CHARACTERS = (
    "Boucher, Shumailov, Anderson, Papernot: Bad Characters: Imperceptible NLP Attacks, 2021, "
    "arXiv:2106.09898"
)
BEST_OF_N = "Hughes et al.: Best-of-N Jailbreaking, 2024, arXiv:2412.03556"
CHATBUG = (
    "Jiang et al.: ChatBug: A Common Vulnerability of Aligned LLMs Induced by Chat Templates, "
    "2024, arXiv:2406.12935"
)
CIPHERCHAT = (
    "Yuan et al.: GPT-4 Is Too Smart To Be Safe: Stealthy Chat with LLMs via Cipher, 2023, "
    "arXiv:2308.06463"
)
CODE_ATTACK = (
    "Ren et al.: CodeAttack: Revealing Safety Generalization Challenges of Large Language Models "
    "via Code Completion, 2024, arXiv:2403.07865"
)
COMPLEX_CIPHERS = (
    'Handa et al.: When "Competency" in Reasoning Opens the Door to Vulnerability: Jailbreaking '
    "LLMs via Novel Complex Ciphers, 2024, arXiv:2402.10601"
)
DARK_SIDE_OF_TRUST = (
    "Yang, Tang, Han, Hu: The Dark Side of Trust: Authority Citation-Driven Jailbreak Attacks on "
    "Large Language Models, 2024, arXiv:2411.11407"
)
DO_ANYTHING_NOW = (
    'Shen et al.: "Do Anything Now": Characterizing and Evaluating In-The-Wild Jailbreak Prompts '
    "on Large Language Models, 2023, arXiv:2308.03825"
)
EMOJI_ATTACK = (
    "Wei, Liu, Erichson: Emoji Attack: Enhancing Jailbreak Attacks Against Judge LLM Detection, "
    "2024, arXiv:2411.01077"
)
FEW_DEMONSTRATIONS = (
    "Wei et al.: Jailbreak and Guard Aligned Language Models with Only Few In-Context "
    "Demonstrations, 2023, arXiv:2310.06387"
)
FLIP_ATTACK = "Liu et al.: FlipAttack: Jailbreak LLMs via Flipping, 2024, arXiv:2410.02832"
HAYSTACK = "Shah et al.: Jailbreaking in the Haystack, 2025, arXiv:2511.04707"
IGNORE_PREVIOUS = (
    "Perez, Ribeiro: Ignore Previous Prompt: Attack Techniques For Language Models, 2022, "
    "arXiv:2211.09527"
)
IMPERCEPTIBLE = (
    "Gao et al.: Imperceptible Jailbreaking against Large Language Models, 2025, arXiv:2510.05025"
)
JAILBROKEN = (
    "Wei, Haghtalab, Steinhardt: Jailbroken: How Does LLM Safety Training Fail?, 2023, "
    "arXiv:2307.02483"
)
MANY_SHOT = "Anil et al.: Many-shot Jailbreaking, 2024"
PERSUASION = (
    "Zeng et al.: How Johnny Can Persuade LLMs to Jailbreak Them: Rethinking Persuasion to "
    "Challenge AI Safety by Humanizing LLMs, 2024, arXiv:2401.06373"
)
PROGRAMMATIC = (
    "Kang et al.: Exploiting Programmatic Behavior of LLMs: Dual-Use Through Standard Security "
    "Attacks, 2023, arXiv:2302.05733"
)
TEXT_ORGANISATION = (
    "Li et al.: StructuralSleight: Automated Jailbreak Attacks on Large Language Models Utilizing "
    "Uncommon Text-Organization Structures, 2024, arXiv:2406.08754"
)
TEXTBUGGER = (
    "Li, Ji, Du, Li, Wang: TextBugger: Generating Adversarial Text Against Real-world "
    "Applications, 2018, arXiv:1812.05271"
)
