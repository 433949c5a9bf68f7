//! Why an expert cannot be made, changed or used.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug)]
    pub enum ExpertError {
        Name { max: usize } = "expert_name" in "name" => "A name has 1 to {max} characters: lower-case letters from a to z, digits and hyphens, such as `tax-helper`.",
        NameReserved { name: String } = "expert_name_reserved" in "name" => "`{name}` is an expert that comes with Tenon. Choose another name.",
        Title { max: usize } = "expert_title" in "title" => "A title has 1 to {max} characters.",
        Description { max: usize } = "expert_description" in "description" => "A description has at most {max} characters.",
        Icon { icons: String } = "expert_icon" in "icon" => "Choose one of these icons: {icons}.",
        Temperature = "expert_temperature" in "temperature" => "The temperature is a number from 0 to 2.",
        TopP = "expert_top_p" in "topP" => "Top-p is a number from 0 to 1.",
        MaxTokens = "expert_max_tokens" in "maxTokens" => "The length of an answer is a whole number of tokens above 0.",
        SystemPrompt { max: usize } = "expert_system_prompt" in "systemPrompt" => "A system prompt has at most {max} characters.",
        Tools { max: usize } = "expert_tools" in "tools" => "An expert has at most {max} tools. Use a pattern such as `mcp_github_*` instead.",
        Tool { pattern: String } = "expert_tool" in "tools" => "{pattern} is neither the id of a tool nor a pattern of ids such as `mcp_github_*`.",
        Skills { max: usize } = "expert_skills" in "skills" => "An expert has at most {max} skills.",
        Starters { max: usize, characters: usize } = "expert_starters" in "starters" => "An expert has at most {max} starters, each of 1 to {characters} characters.",
        Builtin = "expert_builtin" => "This expert comes with Tenon and cannot be changed. Copy it, and change the copy.",
        NotYours = "expert_not_yours" => "Only whoever made this expert, or an admin, can change it. Copy it, and change the copy.",
        /// A chat has it, and it was deleted or is not shared any more.
        Gone = "expert_gone" => "The expert of this chat no longer exists. Choose another one at the top of the chat.",
        NoSuchSkill { skill: String } = "expert_no_such_skill" => "The expert uses the skill {skill}, which is not installed. Install it first.",
        Unreadable { why: String } = "expert_unreadable" => "The file does not describe an expert: {why}",
    }
    wraps {
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for ExpertError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}
